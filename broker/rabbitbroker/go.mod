module github.com/postbag/postbag/broker/rabbitbroker

go 1.26.0

require (
	github.com/postbag/postbag v0.0.0
	github.com/rabbitmq/amqp091-go v1.16.0
)

replace github.com/postbag/postbag => ../..
