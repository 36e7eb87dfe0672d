package redisbroker

import "github.com/redis/go-redis/v9/logging"

// SilenceClients has the client library print nothing more. It writes each connection
// that fails to standard error, past every log of the program; what matters of it comes
// back in results and probes. The library has one logger for all clients of a process,
// and so this is for a program to ask for, as the postbag command does; New and Dial
// leave it alone. redis.SetLogger undoes it, or sends the lines elsewhere.
func SilenceClients() { logging.Disable() }
