/** PKCS #12 (RFC 7292), without a password because nothing in it is secret. */
export function javaTrustStore(certificates: readonly string[]): Buffer {
  const bags = certificates.map((pem) => {
    const certificate = octets(Buffer.from(pem.replace(/-----[^-]+-----/g, ""), "base64"));
    // Java trusts only certificates with its own attribute trustedKeyUsage, here for any use.
    const trusted = sequence(objectId("6086480186f966adca7b0101"), set(objectId("551d2500")));
    const bag = sequence(objectId("2a864886f70d01091601"), inner(certificate));
    return sequence(objectId("2a864886f70d010c0a0103"), inner(bag), set(trusted));
  });
  const data = (content: Buffer) => sequence(objectId("2a864886f70d010701"), inner(octets(content)));
  return sequence(der(0x02, Buffer.of(3)), data(sequence(data(sequence(...bags)))));
}

export function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const hex = content.length.toString(16);
  const length = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex");
  const head = content.length < 0x80 ? [tag] : [tag, 0x80 + length.length];
  return Buffer.concat([Buffer.from(head), length, content]);
}

export const sequence = (...parts: readonly Buffer[]) => der(0x30, ...parts);
const set = (content: Buffer) => der(0x31, content);
const inner = (content: Buffer) => der(0xa0, content);
const octets = (content: Buffer) => der(0x04, content);
const objectId = (hex: string) => der(0x06, Buffer.from(hex, "hex"));
