// Package adapters connects Postbag's stores and brokers with package chaos. It is also the example for your own.
package adapters
