// Package buntx saves an order and publishes its message in one transaction of bun.
package buntx
