module github.com/polywire/polywire/upstream/bedrock

go 1.26.0

require (
	github.com/aws/aws-sdk-go-v2 v1.47.7
	github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream v1.7.26
	github.com/polywire/polywire v0.1.0
)

require (
	github.com/aws/smithy-go v1.28.8 // indirect
	github.com/tidwall/gjson v1.20.0 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.0 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
)

// A release requires a released version of the main module above. This line is for this
// repository only: other modules ignore it.
replace github.com/polywire/polywire => ../..
