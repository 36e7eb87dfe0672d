package terminal

import "fmt"

// Count writes a number of things: "1 message", "2 messages".
func Count[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
