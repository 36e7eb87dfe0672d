// Package oidc logs people in to a console at a provider of OpenID Connect: by the code flow, with PKCE, a state and a nonce.
package oidc
