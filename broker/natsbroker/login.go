package natsbroker

import (
	"crypto/tls"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"
)

// Login says how Dial and OpenSource make their connections. The zero Login uses what the URL
// holds. None of it is ever logged or part of an error.
type Login struct {
	// User and Password, where the server asks for them.
	User, Password string
	// Token, where the server asks for one.
	Token string
	// CredentialsFile is the path of a .creds file: a JWT and its seed.
	CredentialsFile string
	// NKeyFile is the path of a file that holds an NKey seed.
	NKeyFile string
	// TLS, where set, is demanded of the server. Defaults to TLS with the system's
	// roots where the URL (tls://) or the server asks for it.
	TLS *tls.Config
	// Name is what the server's connection list shows. Defaults to "postbag".
	Name string
}

// withDefaults fills what is zero.
func (l Login) withDefaults() Login {
	if l.Name == "" {
		l.Name = "postbag"
	}
	return l
}

// validate returns every fault; of is the name of the options that hold the login.
func (l Login) validate(of string) []error {
	var faults []error
	var kinds []string
	for kind, set := range map[string]bool{
		"User": l.User != "" || l.Password != "", "Token": l.Token != "",
		"CredentialsFile": l.CredentialsFile != "", "NKeyFile": l.NKeyFile != "",
	} {
		if set {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) > 1 {
		slices.Sort(kinds)
		faults = append(faults, fmt.Errorf("natsbroker: %s.Login has %s; use one of them", of, strings.Join(kinds, " and ")))
	}
	for field, path := range map[string]string{"CredentialsFile": l.CredentialsFile, "NKeyFile": l.NKeyFile} {
		if path == "" {
			continue
		}
		text, err := os.ReadFile(path)
		switch {
		case err != nil:
			faults = append(faults, fmt.Errorf("natsbroker: %s.Login.%s: %w; give the path of a file that can be read", of, field, err))
		case !holdsLogin(field, path, string(text)):
			faults = append(faults, fmt.Errorf("natsbroker: %s.Login.%s: %s holds no such thing; give the path of a file that nsc or nk has written", of, field, path))
		}
	}
	return faults
}

// holdsLogin looks into a file: the client reads credentials at each connection,
// and says of bad ones only that it is disconnected.
func holdsLogin(field, path, text string) bool {
	if field == "NKeyFile" {
		_, err := nats.NkeyOptionFromSeed(path)
		return err == nil
	}
	return strings.Contains(text, "BEGIN NATS USER JWT") && strings.Contains(text, "BEGIN USER NKEY SEED")
}
