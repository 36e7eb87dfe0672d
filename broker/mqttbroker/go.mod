module github.com/postbag/postbag/broker/mqttbroker

go 1.26.0

require (
	github.com/eclipse/paho.golang v0.23.0
	github.com/postbag/postbag v0.0.0-00010101000000-000000000000
)

replace github.com/postbag/postbag => ../..
