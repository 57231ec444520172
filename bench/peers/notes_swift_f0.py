"""Finds the notes of recordings with swift-f0 and its segment_notes, both at their defaults.

Usage: notes_swift_f0.py RECORDING... --threads N
Prints one JSON line: "notes", for each recording a list of {"start", "end", "hz", "pitch"}, and the version.
"""

import argparse
import json
from importlib.metadata import version

from swift_f0 import SwiftF0, segment_notes


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("recordings", nargs="+")
    parser.add_argument("--threads", type=int, required=True)
    args = parser.parse_args()

    detector = SwiftF0(threads=args.threads)
    notes = [[{"start": note.start, "end": note.end, "hz": note.pitch_median, "pitch": note.pitch_midi}
              for note in segment_notes(detector.detect_file(recording))] for recording in args.recordings]
    print(json.dumps({"notes": notes, "version": version("swift-f0")}))


if __name__ == "__main__":
    main()
