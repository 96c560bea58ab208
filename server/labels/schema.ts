import Type, { type Static } from 'typebox';
import { archived, archivedInput } from '../http/archivable.ts';
import { Id, Name, Timestamp } from '../schema.ts';

export const defaultColor = '#1f93ff';

const color = Type.String({ pattern: '^#[0-9a-fA-F]{6}$', 'x-rule': 'must be a colour such as #1f93ff' });

export const Label = Type.Object(
  { id: Id('label'), name: Type.String(), color: Type.String(), archived, created_at: Timestamp },
  { $id: 'Label' },
);
export type Label = Static<typeof Label>;

const name = { ...Name, description: 'Trimmed; no two labels of a workspace share one, archived or not.' };

export const NewLabel = Type.Object({
  name,
  color: Type.Optional({ ...color, default: defaultColor }),
});
export type NewLabel = Static<typeof NewLabel>;

export const LabelUpdate = Type.Object({
  name: Type.Optional(name),
  color: Type.Optional(color),
  archived: archivedInput,
});
export type LabelUpdate = Static<typeof LabelUpdate>;
