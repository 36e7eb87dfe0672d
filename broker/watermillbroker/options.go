package watermillbroker

import (
	"errors"
	"fmt"
	"strings"

	"github.com/postbag/postbag/broker"
)

// Options set a destination up. The zero Options send every message by a call of
// its own, to the topic that it has.
type Options struct {
	// Batch is how many messages, all of one topic, one call of the publisher may
	// hold. An error of such a call leaves all of them Unknown: all are sent again, in
	// ever smaller calls until each stands alone, and those that had been stored are
	// then stored twice. Defaults to 1.
	Batch int

	// Concurrency is the most calls of the publisher at a time; others wait for
	// their turn. A call that does not return keeps its place. Defaults to 64.
	Concurrency int

	// KeyMetadata names a metadata entry that holds the message's key too, for a
	// publisher that chooses a partition or an ordering key by it. Defaults to none:
	// the key is in Postbag-Key.
	KeyMetadata string

	// Binding is the protocol behind the publisher, such as broker.BindingAMQP, for
	// encoders that name headers by it: broker.Features.Binding. Defaults to none.
	Binding string

	// Topic makes the publisher's topic of a message. It must always give one message
	// one topic, and is called from several goroutines. Defaults to the message's own.
	Topic func(m broker.Delivery) string

	// Classify may change what an error of the publisher means. Without it, or with
	// broker.ClassKeep, that is what a broker.Error in it says, and Unknown if there is
	// none. Rejected counts as Unknown for a call of several messages, since it is not
	// known which was meant. It is called from several goroutines. Defaults to none.
	Classify func(err error) broker.Class
}

// Validate returns every fault of the options, joined, or nil.
func (o Options) Validate() error {
	var faults []error
	if o.Batch < 0 {
		faults = append(faults, fmt.Errorf("watermillbroker: Options.Batch is %d; use a positive number, or zero for 1", o.Batch))
	}
	if o.Concurrency < 0 {
		faults = append(faults, fmt.Errorf("watermillbroker: Options.Concurrency is %d; use a positive number, or zero for 64", o.Concurrency))
	}
	if reserved(o.KeyMetadata) || o.KeyMetadata == metadataUUID {
		faults = append(faults, fmt.Errorf("watermillbroker: Options.KeyMetadata is %q, which Postbag sets itself; choose another name", o.KeyMetadata))
	}
	return errors.Join(faults...)
}

func (o Options) withDefaults() Options {
	if o.Batch == 0 {
		o.Batch = 1
	}
	if o.Concurrency == 0 {
		o.Concurrency = 64
	}
	return o
}

// reserved says whether a name is one of Postbag's own.
func reserved(name string) bool {
	const prefix = "Postbag-"
	return len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix)
}
