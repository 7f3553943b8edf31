module deltawire.dev/go/adapter/bifrost

go 1.26.2

require (
	deltawire.dev/go v0.0.0
	github.com/maximhq/bifrost/core v1.5.6
)

replace deltawire.dev/go => ../..
