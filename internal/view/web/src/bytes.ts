// What the page gets: bytes in base64, deflated, with numbers as varints.

export async function inflate(base64: string): Promise<Uint8Array> {
  const text = atob(base64);
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(unpacked).arrayBuffer());
}

/** Reads numbers as encoding/binary of Go writes them. */
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

  varint(): number {
    const value = this.uvarint();
    return value % 2 ? -(value + 1) / 2 : value / 2;
  }

  text(length: number): string {
    const bytes = this.from.subarray(this.at, this.at + length);
    this.at += length;
    return new TextDecoder().decode(bytes);
  }
}
