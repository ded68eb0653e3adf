// The format of the page's data: bytes in base64, deflated, with numbers as varints.

export async function inflatedText(base64: string): Promise<string> { return new TextDecoder().decode(await inflate(base64)); }

export async function inflate(base64: string): Promise<Uint8Array> {
  const packed = decoded(base64);
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(unpacked).arrayBuffer());
}

/** Browsers since 2025 can decode base64 themselves, ten times as fast. */
const native = (Uint8Array as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }).fromBase64;

function decoded(base64: string): Uint8Array<ArrayBuffer> {
  if (native) return native.call(Uint8Array, base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** Reads numbers as Go's encoding/binary writes them. */
export class Reader {
  constructor(private readonly from: Uint8Array, private at = 0) {}

  uvarint(): number {
    let value = 0;
    let factor = 1;
    for (;;) {
      const byte = this.from[this.at++];
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 128;
    }
  }

  /** Fills numbers with varints; most have one byte. */
  varints(numbers: Float64Array | Int32Array): void {
    for (let i = 0; i < numbers.length; i++) {
      const byte = this.from[this.at];
      if (byte < 0x80) {
        this.at++;
        numbers[i] = (byte >>> 1) ^ -(byte & 1);
        continue;
      }
      const value = this.uvarint();
      numbers[i] = value % 2 ? -(value + 1) / 2 : value / 2;
    }
  }

  get isAtEnd(): boolean { return this.at >= this.from.length; }

  text(length: number): string {
    const bytes = this.from.subarray(this.at, this.at + length);
    this.at += length;
    return new TextDecoder().decode(bytes);
  }
}
