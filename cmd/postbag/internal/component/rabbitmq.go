package component

import (
	"context"
	"errors"
	"strconv"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/console"
	"github.com/postbag/postbag/rabbitbroker"
)

func openRabbitMQ(ctx context.Context, d *config.Destination, url string, _ *console.Console, dry bool) (broker.Destination, error) {
	o := rabbitbroker.Options{
		Exchange: d.Exchange, RoutingKey: d.RoutingKey, Topology: topology(&d.Topology), MaxBytes: d.MaxBytes,
		MaxPending: d.MaxPending, Channels: d.Channels, Retries: d.Retries,
		Login: rabbitbroker.Login{VHost: d.VHost, External: d.External, Name: d.ClientName, Heartbeat: d.Heartbeat},
	}
	if err := login(d, &o.Login.User, &o.Login.Password, &o.Login.TLS); err != nil {
		return nil, err
	}
	if dry {
		return nil, errors.Join(o.Validate(), rabbitbroker.ValidURLs(url))
	}
	return rabbitbroker.Dial(ctx, url, o)
}

func topology(t *config.Topology) (out rabbitbroker.Topology) {
	for _, e := range t.Exchanges {
		out.Exchanges = append(out.Exchanges, rabbitbroker.Exchange{Name: e.Name, Kind: e.Kind, Arguments: arguments(e.Arguments)})
	}
	for _, q := range t.Queues {
		out.Queues = append(out.Queues, rabbitbroker.Queue{Name: q.Name, Type: q.Type, Arguments: arguments(q.Arguments)})
	}
	for _, b := range t.Bindings {
		out.Bindings = append(out.Bindings, rabbitbroker.Binding{
			Exchange: b.Exchange, Queue: b.Queue, RoutingKey: b.RoutingKey, Arguments: arguments(b.Arguments),
		})
	}
	return out
}

// arguments gives values the kind that they look like: the server tells numbers from text.
func arguments(in map[string]string) map[string]any {
	if len(in) == 0 {
		return nil
	}
	out := make(map[string]any, len(in))
	for name, text := range in {
		out[name] = text
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			out[name] = n
		} else if text == "true" || text == "false" {
			out[name] = text == "true"
		}
	}
	return out
}
