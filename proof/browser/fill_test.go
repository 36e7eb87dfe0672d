package browser

import (
	"fmt"
	"time"
)

// fillOrders makes a shop in which something is wrong: a paused search, cancelled orders that the partner refuses, and returns that no
// stream takes.
func fillOrders(w *world) error {
	var all []message
	for i := range 60 {
		typ := []string{"order.created", "order.paid", "order.shipped"}[i%3]
		customer := fmt.Sprintf("customer-%02d", i%20)
		switch i {
		case 20, 31, 44:
			typ = "order.cancelled"
		case 25:
			typ = "order.returned"
		}
		all = append(all, message{
			Topic: "orders", Key: customer, Type: typ, Headers: map[string]string{"tenant": "eu-1", "trace": fmt.Sprintf("%04x", 4096+i)},
			Payload: map[string]any{"order": 7000 + i, "customer": customer, "total": fmt.Sprintf("%d.90", 12+i*3), "currency": "EUR", "items": []string{"lamp", "chair"}},
		})
	}
	later := time.Now().Add(26 * time.Hour).Truncate(time.Minute)
	for i := range 3 {
		at := later.Add(time.Duration(i) * time.Hour)
		all = append(all, message{Topic: "orders", Key: fmt.Sprintf("customer-%02d", i), Type: "order.reminder", NotBefore: &at, Payload: map[string]any{"order": 7000 + i}})
	}
	for i := range 4 {
		all = append(all, message{Topic: "returns", Key: fmt.Sprintf("customer-%02d", 30+i), Type: "return.asked", Payload: map[string]any{"order": 6900 + i}})
	}
	if err := w.publish(orders, all...); err != nil {
		return err
	}
	for _, s := range []struct {
		subscription, state string
		messages            int
	}{{"email", "dead", 3}, {"email", "retrying", 1}, {"billing", "delivered", 60}, {"billing", "held", 4}} {
		if err := w.comes(orders, s.subscription, s.state, s.messages); err != nil {
			return err
		}
	}
	return nil
}
