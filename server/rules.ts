/** What a text must look like, for the schemas of requests and for the options of the command line. */

export const E164 = '^\\+[1-9][0-9]{6,14}$';

export const phoneRule = {
  pattern: E164,
  'x-rule': 'must be a phone number in E.164 form, such as +4915112345678',
};

/** One @, something on both sides, no blanks: whether a mailbox exists only a message can tell. */
export const emailRule = {
  pattern: '^[^\\s@]+@[^\\s@]+$',
  'x-rule': 'must be an e-mail address, such as ada@example.com',
};
