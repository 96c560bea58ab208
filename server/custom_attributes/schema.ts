import Type, { type Static } from 'typebox';
import { archived, archivedInput } from '../http/archivable.ts';
import { Id, Name, Timestamp } from '../schema.ts';
import { type AttributeType, attributeTypes } from './check.ts';

const type = Type.Unsafe<AttributeType>({
  type: 'string',
  enum: [...attributeTypes],
  description: 'A change holds for values written from then on; stored values stay as they are.',
});

export const CustomAttribute = Type.Object(
  {
    id: Id('customAttribute'),
    key: Type.String(),
    type,
    label: Type.String(),
    archived,
    created_at: Timestamp,
  },
  { $id: 'CustomAttribute' },
);
export type CustomAttribute = Static<typeof CustomAttribute>;

export const NewCustomAttribute = Type.Object({
  key: { ...Name, description: 'Trimmed; no two that are not archived share one. It cannot change later.' },
  type,
  label: Type.Optional({ ...Name, description: 'What people read; the key when not given.' }),
});
export type NewCustomAttribute = Static<typeof NewCustomAttribute>;

export const CustomAttributeUpdate = Type.Object({
  key: Type.Optional({ ...Name, description: 'Cannot change; may be sent back as it was read.' }),
  type: Type.Optional(type),
  label: Type.Optional(Name),
  archived: archivedInput,
});
export type CustomAttributeUpdate = Static<typeof CustomAttributeUpdate>;
