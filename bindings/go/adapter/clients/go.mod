module deltawire.dev/go/adapter/clients

go 1.26.2

require (
	deltawire.dev/go v0.0.0
	github.com/maximhq/bifrost/core v1.5.6
	github.com/openai/openai-go/v3 v3.52.0
)

require (
	github.com/tidwall/gjson v1.19.0 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.1 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
)

replace deltawire.dev/go => ../..
