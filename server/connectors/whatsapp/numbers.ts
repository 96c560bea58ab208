/**
 * A WhatsApp id is not always the number people write down: Mexico has dropped the 1 of mobile numbers and WhatsApp
 * keeps it, Argentina's 9 is dialled from abroad only, and Brazil's ninth digit is missing from ids that are older.
 */
const rules: [written: RegExp, otherwise: string][] = [
  [/^\+521(\d{10})$/, '+52$1'],
  [/^\+52(\d{10})$/, '+521$1'],
  [/^\+549(\d{10})$/, '+54$1'],
  [/^\+54(\d{10})$/, '+549$1'],
  [/^\+55(?<area>\d\d)9(?<number>\d{8})$/, '+55$<area>$<number>'],
  [/^\+55(?<area>\d\d)(?<number>\d{8})$/, '+55$<area>9$<number>'],
];

/** The ways the phone number of a WhatsApp id is written, itself first. Empty: it is no phone number. */
export function phonesOf(waId: string): string[] {
  if (!/^[1-9]\d{6,14}$/.test(waId)) return [];
  const phone = `+${waId}`;
  const rule = rules.find(([written]) => written.test(phone));
  return rule ? [phone, phone.replace(...rule)] : [phone];
}
