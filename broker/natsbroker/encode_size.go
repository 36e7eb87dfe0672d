package natsbroker

import (
	"fmt"

	"github.com/postbag/postbag/broker"
)

// tooLarge says that a message cannot be carried; limit is for headers and
// payload together, zero for none.
func tooLarge(headers, payload, limit int) *broker.Error {
	switch {
	case headers > maxHeader:
		return adapter.Failure(broker.Rejected, fmt.Sprintf("the headers take %d bytes once encoded, JetStream stores %d", headers, maxHeader),
			"send less in headers")
	case limit > 0 && headers+payload > limit:
		return adapter.Failure(broker.Rejected,
			fmt.Sprintf("headers and payload take %d bytes, stream and server allow %d", headers+payload, limit),
			"send less, or raise max_payload of the server and max_msg_size of the stream")
	}
	return nil
}
