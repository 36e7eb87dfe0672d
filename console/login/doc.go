// Package login lets people into a console: by a password of a file, by the header of a proxy, or by an OpenID Connect provider, which
// package oidc asks. One file, the access file, says who has which rights. It is read again when it changes.
package login
