import { randomBytes, randomInt } from 'node:crypto';

/** A wamid is base64 around the customer's number, the direction and a random part; so are these. */
export function newWamid(waId: string, direction: 'in' | 'out'): string {
  const unique = randomBytes(direction === 'in' ? 10 : 9)
    .toString('hex')
    .toUpperCase();
  const bytes = Buffer.concat([
    Buffer.from([0x1c, 0x18, waId.length]),
    Buffer.from(waId),
    Buffer.from([0x15, 0x02, 0x00, direction === 'in' ? 0x12 : 0x11, 0x18, unique.length]),
    Buffer.from(unique),
    Buffer.from([0x00]),
  ]);
  return `wamid.${bytes.toString('base64')}`;
}

/** Meta's object ids are long decimal numbers in strings. */
export function newObjectId(): string {
  return `${randomInt(1_000_000, 9_999_999)}${randomInt(10_000_000, 99_999_999)}`;
}

export function waIdOf(phoneNumber: string): string {
  return phoneNumber.replace(/\D/g, '');
}

export function epochSeconds(at: Date): string {
  return String(Math.floor(at.getTime() / 1000));
}
