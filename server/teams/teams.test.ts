import { startService } from '../../test/harness.ts';
import { keepsSettingsPromises } from '../../test/settings.ts';

const service = await startService();

keepsSettingsPromises(service, {
  kind: 'team',
  path: '/teams',
  table: 'teams',
  noun: 'Team',
  textField: 'name',
  body: (n) => ({ name: `Team ${n}` }),
  change: { name: 'Renamed' },
});
