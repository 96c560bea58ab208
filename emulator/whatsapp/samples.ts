import type { NewTemplate } from './templates.ts';

export const sampleTemplates: NewTemplate[] = [
  {
    name: 'hello_world',
    components: [
      { type: 'HEADER', format: 'TEXT', text: 'Hello World' },
      {
        type: 'BODY',
        text: 'Welcome and congratulations!! This message demonstrates your ability to send one.',
      },
      { type: 'FOOTER', text: 'WhatsApp Business Platform sample message' },
    ],
  },
  {
    name: 'order_shipped',
    language: 'en',
    components: [
      {
        type: 'BODY',
        text: 'Hi {{1}}, your order {{2}} is on its way.',
        example: { body_text: [['Ada', 'A-1042']] },
      },
    ],
  },
  {
    name: 'order_shipped',
    language: 'de',
    components: [
      {
        type: 'BODY',
        text: 'Hallo {{1}}, deine Bestellung {{2}} ist unterwegs.',
        example: { body_text: [['Ada', 'A-1042']] },
      },
    ],
  },
  {
    name: 'appointment_reminder',
    language: 'en',
    parameter_format: 'NAMED',
    components: [
      {
        type: 'BODY',
        text: 'Hi {{first_name}}, see you on {{date}}.',
        example: {
          body_text_named_params: [
            { param_name: 'first_name', example: 'Ada' },
            { param_name: 'date', example: '12 May' },
          ],
        },
      },
    ],
  },
  {
    name: 'spring_sale',
    language: 'en',
    status: 'PAUSED',
    category: 'MARKETING',
    body: 'Spring sale: 20% off!',
  },
  { name: 'win_back', language: 'en', status: 'PENDING', category: 'MARKETING', body: 'We miss you, {{1}}.' },
];
