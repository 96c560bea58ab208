import { testSamples } from './samples.ts';

// On a machine new to Go, building the sample builds Go's library: half a minute of both processors.
testSamples([
  { fence: 'go', file: 'verify.go', command: 'go', build: ['build', '-o', 'verify', 'verify.go'] },
]);
