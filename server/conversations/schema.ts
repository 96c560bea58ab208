import Type, { type Static } from 'typebox';
import { cursorQuery, pageQuery } from '../page.ts';
import {
  Id,
  IdInput,
  Named,
  NameList,
  NullableIdInput,
  NullableTimestamp,
  orNull,
  Timestamp,
} from '../schema.ts';

export const statuses = ['open', 'pending', 'resolved', 'snoozed'] as const;
export type Status = (typeof statuses)[number];

const StatusSchema = Type.Unsafe<Status>({ type: 'string', enum: [...statuses] });

export interface NamedValue {
  id: string;
  name: string;
}

const listFields = {
  id: Id('conversation'),
  status: StatusSchema,
  channel: Type.Object({ id: Id('channel'), type: Type.String(), name: Type.String() }),
  contact: Type.Object({
    id: Id('contact'),
    name: Type.String(),
    phone: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  }),
  assignee: orNull<NamedValue>(Named('agent')),
  labels: Type.Array(Type.String()),
  created_at: Timestamp,
  updated_at: Timestamp,
};

export const ConversationSummary = Type.Object(listFields, {
  $id: 'ConversationSummary',
  description: 'A conversation as lists show it.',
});
export type ConversationSummary = Static<typeof ConversationSummary>;

export const Conversation = Type.Object(
  {
    ...listFields,
    team: orNull<NamedValue>(Named('team')),
    snoozed_until: NullableTimestamp,
    reply_window: Type.Object(
      { open: Type.Boolean(), expires_at: NullableTimestamp },
      {
        description:
          'Whether free text may be sent now, and until when. Channels without a window are always open.',
      },
    ),
  },
  { $id: 'Conversation' },
);
export type Conversation = Static<typeof Conversation>;

export const templateVariables = Type.Optional(
  Type.Record(Type.String(), Type.Unknown(), {
    maxProperties: 100,
    description: 'Values for the placeholders of the template.',
  }),
);

export const NewConversation = Type.Object({
  contact_id: IdInput('the contact to converse with'),
  channel_id: IdInput('the channel to use'),
  message: Type.Optional(
    Type.Object(
      {
        content: Type.Optional(Type.String()),
        template_id: Type.Optional(IdInput('an approved template')),
        template_variables: templateVariables,
      },
      { description: 'First message: `content` for text, or `template_id` for a template.' },
    ),
  ),
  assignee_id: Type.Optional(NullableIdInput('the agent to assign')),
});
export type NewConversation = Static<typeof NewConversation>;

export const ConversationUpdate = Type.Object({
  status: Type.Optional(StatusSchema),
  assignee_id: Type.Optional(NullableIdInput('the agent to assign')),
  team_id: Type.Optional(NullableIdInput('the team to assign')),
  labels: Type.Optional(NameList('Label')),
  snoozed_until: Type.Optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'date-time',
      'x-rule': 'must be a timestamp such as 2026-11-15T09:30:00.000Z',
      description:
        'With `status: snoozed`: when to reopen. Without it, a snooze lasts until the customer writes.',
    }),
  ),
});
export type ConversationUpdate = Static<typeof ConversationUpdate>;

export const defaultPerPage = 25;

export const ConversationQuery = Type.Object({
  status: Type.Optional(StatusSchema),
  channel_id: Type.Optional(IdInput('a channel')),
  assignee_id: Type.Optional(
    Type.String({ description: 'Id of an agent, or `unassigned` for conversations without one.' }),
  ),
  contact_id: Type.Optional(IdInput('a contact')),
  team_id: Type.Optional(IdInput('a team')),
  label: Type.Optional(Type.String({ maxLength: 255, description: 'A label name.' })),
  updated_since: Type.Optional(
    Type.String({
      format: 'date-time',
      'x-rule': 'must be a timestamp such as 2026-11-15T09:30:00.000Z',
      description: 'Only conversations updated at this time or later.',
    }),
  ),
  ...pageQuery(defaultPerPage),
  ...cursorQuery,
});
export type ConversationQuery = Static<typeof ConversationQuery>;
