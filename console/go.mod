module github.com/postbag/postbag/console

go 1.26.0

require (
	github.com/coreos/go-oidc/v3 v3.21.0
	github.com/postbag/postbag v0.0.0-00010101000000-000000000000
	golang.org/x/oauth2 v0.38.0
)

require github.com/go-jose/go-jose/v4 v4.1.4 // indirect

require (
	golang.org/x/crypto v0.58.0
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/postbag/postbag => ../
