import { generateKeyPairSync } from 'node:crypto';

/** A certificate of no real name with its key, made by openssl for tests and valid for 100 years. */
export const testCertificate = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBhjCCASugAwIBAgIUSo5sZfpZDH1/52d368bYHnMvwA8wCgYIKoZIzj0EAwIw
FzEVMBMGA1UEAwwMY2Fycmllci50ZXN0MCAXDTI2MTExNjA2MTAzOFoYDzIxMjYx
MDIzMDYxMDM4WjAXMRUwEwYDVQQDDAxjYXJyaWVyLnRlc3QwWTATBgcqhkjOPQIB
BggqhkjOPQMBBwNCAARrp8emuV0yXXOoNxYsX8gmF9p8U1R4xvsA+QVFELdYE/u7
xLN8kbqOqKt3pjQiapcokj8IE8N+k3uPrH5bEuAeo1MwUTAdBgNVHQ4EFgQU3aVL
VTgo+Xl2q3stOq+B9/6AGMkwHwYDVR0jBBgwFoAU3aVLVTgo+Xl2q3stOq+B9/6A
GMkwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEApIvg2wX+xJPH
1WL3jisdZxFvyuABIKV19Nrrq5BeD2ECIQCt7mEGPeLAooiU0R6tIAxm8xwTkr3v
i8ZyvKWNXyhB7A==
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgGrJbd481lnp+Bnz3
WyVEA08SXWfeJsKGNnd5neVWoiWhRANCAARrp8emuV0yXXOoNxYsX8gmF9p8U1R4
xvsA+QVFELdYE/u7xLN8kbqOqKt3pjQiapcokj8IE8N+k3uPrH5bEuAe
-----END PRIVATE KEY-----
`,
};

/** A key that belongs to no certificate. */
export function otherKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}
