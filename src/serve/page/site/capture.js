// An AudioWorklet that hands the samples of the microphone to the page in pieces of about 1/20 s.

class Capture extends AudioWorkletProcessor {
  constructor() {
    super();
    this.piece = new Float32Array(2048);
    this.filled = 0;
    this.port.onmessage = () => this.send();
  }

  // The rest, and a message that nothing follows.
  send() {
    this.port.postMessage({samples: this.piece.slice(0, this.filled), isLast: true});
    this.filled = 0;
  }

  process([input]) {
    const samples = input[0];
    if (!samples) return true;
    for (let from = 0; from < samples.length;) {
      const count = Math.min(samples.length - from, this.piece.length - this.filled);
      this.piece.set(samples.subarray(from, from + count), this.filled);
      this.filled += count;
      from += count;
      if (this.filled === this.piece.length) {
        this.port.postMessage({samples: this.piece.slice()});
        this.filled = 0;
      }
    }
    return true;
  }
}

registerProcessor('capture', Capture);
