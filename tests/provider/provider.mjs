// SPDX-License-Identifier: Apache-2.0
// A real OpenID Connect provider, with its own forms for login and consent: whoever gives a name is let in by it.
// node provider.mjs '{"host": "127.0.0.1", "port": 4000, "clients": {"console": "its secret"}}'
import { Provider } from "oidc-provider";

const { host, port, clients } = JSON.parse(process.argv[2]);
const issuer = `http://${host}:${port}`;

const provider = new Provider(issuer, {
  clients: Object.entries(clients).map(([name, secret]) => ({
    client_id: name,
    ...(secret ? { client_secret: secret } : { token_endpoint_auth_method: "none" }),
    // Native: on this machine the port of the address to come back to may be any (RFC 8252).
    application_type: "native",
    redirect_uris: ["http://127.0.0.1/login/callback"],
    grant_types: ["authorization_code"],
    response_types: ["code"],
  })),
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["preferred_username"] },
  conformIdTokenClaims: false, // as Keycloak and Entra do: claims are in the ID token
  pkce: { required: () => true },
  cookies: { keys: ["of tests alone"] },
  features: { devInteractions: { enabled: true } },
  findAccount: (_, name) => ({
    accountId: name,
    claims: () => ({
      sub: name,
      email: `${name}@example.org`,
      email_verified: !name.startsWith("unverified"),
      preferred_username: name,
    }),
  }),
});
provider.listen(port, "127.0.0.1", () => console.log("listening"));
