// Links that contain the input. The part of an address after # is not sent to a server.

const longest = 2 << 20; // characters of a link
const largest = 32 << 20; // bytes of an input

// toHash returns a value as the part of an address after #.
export async function toHash(value) {
  const packed = new Blob([JSON.stringify(value)]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
  if ((bytes.length * 4) / 3 > longest) {
    throw new Error(`The link would have ${((bytes.length * 4) / 3 / 2 ** 20).toFixed(1)} MB. The most that a link can have here is 2 MB.`);
  }
  const pieces = [];
  for (let i = 0; i < bytes.length; i += 0x8000) pieces.push(String.fromCharCode(...bytes.subarray(i, i + 0x8000)));
  return `#1.${btoa(pieces.join('')).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
}

// fromHash returns the value of a link, or undefined if the address has none.
export async function fromHash(hash) {
  const packed = /^#1\.([\w-]+)$/.exec(hash)?.[1];
  if (!packed) return undefined;
  try {
    const bytes = Uint8Array.from(atob(packed.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
    const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader();
    const pieces = [];
    for (let size = 0; ;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      if (size > largest) throw new Error('too large');
      pieces.push(value);
    }
    return JSON.parse(await new Blob(pieces).text());
  } catch {
    throw new Error('The link is damaged: its input cannot be read. Copy it again, as a whole.');
  }
}
