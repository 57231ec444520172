#!/usr/bin/env python3
"""The bar serve-page: bar.py [--smoke] PROGRAM. A hum from the microphone becomes a flute by clicks, and so does a
correction of it, at the width of a phone and of a desktop. The last line is what tools/bench reads. Without --smoke it
first installs Chromium (install.sh)."""

import json
import math
import subprocess
import sys
import time

import run

MOST_CLICKS, MOST_SEMITONES_OFF = 4, 0.7
RECORDED_S, CORRECTION = 8, 3
BAR = "a flute after <= 4 clicks, a corrected note heard, no console error, no violation of WCAG A or AA, at 360 px and desktop"


def longest(notes):
    return max(range(len(notes)), key=lambda i: notes[i]["end"] - notes[i]["start"])


def address_of_take(browser, count):
    """The address of the newest sound, once there are that many."""
    browser.wait("the flute", lambda: len(browser.take_rows()) == count)
    return browser.take_rows()[0].find_element("css selector", "a").get_attribute("href")


def correction_heard(browser, notes):
    """How far the note that was moved is from its place in the new sound, in semitones. Any octave is right: it is that
    of the instrument."""
    from browser import hz_of
    index = longest(notes)
    browser.run("document.querySelectorAll('#roll .note')[arguments[0]].click()", index)
    for _ in range(CORRECTION):
        browser.click("#tool-higher")
    note = browser.notes()[index]
    assert note["pitch"] == notes[index]["pitch"] + CORRECTION
    browser.click("#make")
    url = address_of_take(browser, 2)
    heard = browser.run("window.pitchOfFile(arguments[0], arguments[1], arguments[2])", url, note["start"], note["end"])
    off = 12 * math.log2(max(heard, 1) / hz_of(note["pitch"])) % 12
    return min(off, 12 - off)


def journey(service, size, folder):
    from browser import Browser, pause
    browser = Browser(size, screenshots=folder)
    try:
        browser.start(service.url + "/")
        violations = browser.violations()
        browser.click("#record")
        browser.wait("the recording", lambda: "is-recording" in browser.find("body").get_attribute("class"))
        pause(RECORDED_S)
        browser.click("#record")
        stopped = time.monotonic()
        notes = browser.wait_for_notes()
        notes_s = time.monotonic() - stopped
        browser.click("label[for=preset-flute]")
        browser.click("#make")
        made = time.monotonic()
        browser.wait_until_take_heard()
        heard_s = time.monotonic() - made
        clicks = browser.clicks
        address_of_take(browser, 1)
        violations += browser.violations()
        off = correction_heard(browser, notes)
        violations += browser.violations()
        browser.keep_screenshot("serve-page")
        return {"clicks": clicks, "notes_s": round(notes_s, 2), "heard_s": round(heard_s, 2), "corrected_note_off_semitones": round(off, 2),
                "console_errors": len(browser.console_errors()), "violations": len(violations)}
    finally:
        browser.close()


def result(measured, reason=None):
    clicks = max((found["clicks"] for found in measured.values()), default=None)
    ok = None if reason else all(
        found["clicks"] <= MOST_CLICKS and found["corrected_note_off_semitones"] <= MOST_SEMITONES_OFF
        and found["console_errors"] == 0 and found["violations"] == 0 for found in measured.values())
    line = {"name": "serve-page", "value": clicks, "unit": "clicks", "bar": BAR, "ok": ok, "ours": measured, "peer": {}}
    return {**line, "reason": reason} if reason else line


def main(arguments):
    is_smoke = "--smoke" in arguments
    program = [argument for argument in arguments if argument != "--smoke"][0]
    if not is_smoke:
        subprocess.run([str(run.HERE / "install.sh")], check=True, stdout=sys.stderr)
    if run.missing():
        print(json.dumps(result({}, f"{run.missing()[0]} is missing; `make page` installs it")))
        return
    run.find_packages()
    from browser import DESKTOP, PHONE
    from service import Service
    service = Service(program)
    try:
        sizes = [PHONE] if is_smoke else [PHONE, DESKTOP]
        print(json.dumps(result({f"{size[0]} px": journey(service, size, run.ROOT / "build/page/screenshots") for size in sizes})))
    finally:
        service.close()


if __name__ == "__main__":
    main(sys.argv[1:])
