import { testSamples } from './samples.ts';

testSamples([
  { fence: 'js', file: 'verify.mjs', command: process.execPath },
  { fence: 'python', file: 'verify.py', command: 'python3' },
  { fence: 'php', file: 'verify.php', command: 'php' },
  { fence: 'ruby', file: 'verify.rb', command: 'ruby' },
  { fence: 'sh', file: 'verify.sh', command: 'sh' },
]);
