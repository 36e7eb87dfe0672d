package component

import (
	"context"
	"errors"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
)

// NATSConnection is how a client of NATS reaches its servers.
type NATSConnection struct {
	Connection

	// The variable that holds the token.
	TokenEnv string `yaml:"token_env"`
	// The file that holds the token.
	TokenFile string `yaml:"token_file"`
	// A credentials file (.creds).
	CredentialsFile string `yaml:"credentials_file"`
	// A file that holds an NKey seed.
	NKeyFile string `yaml:"nkey_file"`
	// What the server shows as the connection's name.
	ClientName string `yaml:"client_name" default:"postbag"`
}

// login fills what the settings say of who connects, and returns the URL.
func (n *NATSConnection) login(to *natsbroker.Login) (url string, err error) {
	to.Name, to.CredentialsFile, to.NKeyFile = n.ClientName, n.CredentialsFile, n.NKeyFile
	url, err = n.Connection.open(&to.User, &to.Password, &to.TLS)
	errs := []error{err}
	either(n.TokenEnv, n.TokenFile, &to.Token, &errs)
	return url, errors.Join(errs...)
}

// NATS is a destination in JetStream.
type NATS struct {
	NATSConnection

	// The stream that must store the messages.
	Stream string `yaml:"stream" otherwise:"the one that listens to their subject"`
	// Put before the topic to make the subject, such as "events.".
	Prefix string `yaml:"prefix" otherwise:"nothing"`
	// Headers of messages that the server may obey, such as Nats-TTL.
	PassHeaders []string `yaml:"pass_headers" otherwise:"none"`
	// How long to trust what is known of a stream.
	Recheck time.Duration `yaml:"recheck" range:"1ms..24h" default:"1m"`
	// Most messages that are sent and not yet answered.
	MaxPending int `yaml:"max_pending" default:"4096"`
}

func (n *NATS) open(ctx context.Context, _ *terminal.Terminal, dry bool) (broker.Destination, error) {
	o := natsbroker.Options{
		Stream: n.Stream, Prefix: n.Prefix, MaxPending: n.MaxPending, PassHeaders: n.PassHeaders, Recheck: n.Recheck,
	}
	url, err := n.login(&o.Login)
	if err != nil {
		return nil, err
	}
	if dry {
		return nil, errors.Join(o.Validate(), natsbroker.ValidURLs(url))
	}
	return natsbroker.Dial(ctx, url, o)
}

// CheckTopic implements config.TopicChecker.
func (n *NATS) CheckTopic(topic string) error {
	return natsbroker.Options{Prefix: n.Prefix}.CheckTopic(topic)
}

// CheckHeaders implements config.HeaderChecker.
func (*NATS) CheckHeaders(headers map[string]string) error { return natsbroker.CheckHeaders(headers) }
