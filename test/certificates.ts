import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import { parseAddress } from '../server/egress/addresses.ts';

/** X.509 for tests, written as DER by hand: node:crypto makes none, and a machine need not have openssl. */
export interface Authority {
  /** PEM, for the `ca` of whoever is to trust it. */
  cert: string;
  issue(options: CertificateOptions): Certificate;
}

/** PEM, as `tls.createServer` takes it. */
export interface Certificate {
  cert: string;
  key: string;
}

export interface CertificateOptions {
  /** DNS names and IP addresses, `*.example.com` included. */
  hosts: string[];
  notBefore?: Date;
  notAfter?: Date;
}

export function createAuthority(name = 'Inbox test authority'): Authority {
  const key = newKey();
  const ca = [basicConstraints(true), keyUsage(0x06)];
  return {
    cert: certificate({
      issuer: name,
      subject: name,
      subjectKey: key,
      signer: key,
      extensions: ca,
      ...validNow(),
    }),
    issue: (options) => serverCertificate(options, { name, key }),
  };
}

/** Signed by nobody but itself. */
export function createSelfSigned(options: CertificateOptions): Certificate {
  return serverCertificate(options);
}

/** `issue({ hosts, ...expired() })` */
export function expired(): { notBefore: Date; notAfter: Date } {
  return { notBefore: daysFromNow(-10), notAfter: daysFromNow(-1) };
}

function serverCertificate(
  options: CertificateOptions,
  issuer?: { name: string; key: KeyObject },
): Certificate {
  const key = newKey();
  const subject = options.hosts[0] ?? 'nobody';
  const cert = certificate({
    ...validNow(),
    ...options,
    issuer: issuer?.name ?? subject,
    signer: issuer?.key ?? key,
    subject,
    subjectKey: key,
    extensions: [basicConstraints(false), keyUsage(0x80), subjectAltName(options.hosts)],
  });
  return { cert, key: key.export({ type: 'pkcs8', format: 'pem' }) };
}

interface Contents {
  issuer: string;
  signer: KeyObject;
  subject: string;
  subjectKey: KeyObject;
  notBefore: Date;
  notAfter: Date;
  extensions: Buffer[];
}

/** RFC 5280, section 4.1. */
function certificate(contents: Contents): string {
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))), // version 3
    der(0x02, Buffer.concat([Buffer.of(0x01), randomBytes(15)])), // serial number; the first byte keeps it positive
    ecdsaWithSha256,
    distinguishedName(contents.issuer),
    sequence(time(contents.notBefore), time(contents.notAfter)),
    distinguishedName(contents.subject),
    createPublicKey(contents.subjectKey).export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...contents.extensions)),
  );
  const signature = sign('sha256', body, contents.signer);
  const base64 = sequence(body, ecdsaWithSha256, bitString(0, signature)).toString('base64');
  return `-----BEGIN CERTIFICATE-----\n${base64.replace(/(.{64})/g, '$1\n').trim()}\n-----END CERTIFICATE-----\n`;
}

function distinguishedName(commonName: string): Buffer {
  return sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(commonName)))));
}

function basicConstraints(isAuthority: boolean): Buffer {
  return extension('551d13', sequence(isAuthority ? der(0x01, Buffer.of(0xff)) : Buffer.alloc(0)));
}

function keyUsage(bits: number): Buffer {
  return extension('551d0f', bitString(bits & 0x80 ? 7 : 1, Buffer.of(bits)));
}

function subjectAltName(hosts: string[]): Buffer {
  const names = hosts.map((host) =>
    isIP(host) ? der(0x87, Buffer.from(parseAddress(host) ?? [])) : der(0x82, Buffer.from(host)),
  );
  return extension('551d11', sequence(...names));
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(oid(id), der(0x04, value));
}

function time(date: Date): Buffer {
  return der(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]|\..*/g, '')}Z`));
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function bitString(unusedBits: number, bytes: Buffer): Buffer {
  return der(0x03, Buffer.concat([Buffer.of(unusedBits), bytes]));
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function der(tag: number, value: Buffer): Buffer {
  const { length } = value;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.of(tag, ...size), value]);
}

const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));

function newKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
}

function validNow(): { notBefore: Date; notAfter: Date } {
  return { notBefore: daysFromNow(-1), notAfter: daysFromNow(30) };
}

function daysFromNow(days: number): Date {
  return new Date(Date.now() + days * 86_400_000);
}
