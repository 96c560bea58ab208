import Type, { type Static } from 'typebox';
import { archived, archivedInput } from '../http/archivable.ts';
import { Id, Name, Timestamp } from '../schema.ts';

export const Team = Type.Object(
  { id: Id('team'), name: Type.String(), archived, created_at: Timestamp },
  { $id: 'Team' },
);
export type Team = Static<typeof Team>;

export const NewTeam = Type.Object({ name: Name });
export type NewTeam = Static<typeof NewTeam>;

export const TeamUpdate = Type.Object({ name: Type.Optional(Name), archived: archivedInput });
export type TeamUpdate = Static<typeof TeamUpdate>;
