// Package gormtx saves an order and publishes its message in one transaction of GORM.
package gormtx
