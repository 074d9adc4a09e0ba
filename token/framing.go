package token

// A Framing has the tokens that a provider adds to a request beyond its texts. A [Counter]
// counts the texts, including names and arguments of calls.
type Framing struct {
	Request Count // once, with the opening of the reply
	Tools   Count // once, if the request defines tools; their definitions are extra
	Message Count // for each message, with its role
	Call    Count // for each tool call, with its identifier
	Result  Count // for each tool result, with its identifier
}

// FramingOf returns the framing of a provider, "openai" or "anthropic". For
// any other it returns the largest known values.
//
// For OpenAI, the OpenAI cookbook publishes 3 tokens around each message, 1
// for its role and 3 for the opening of the reply. The other figures are not
// published; they are set high, so that a request that fits a budget here
// fits the model. Anthropic's documentation states some hundreds of tokens
// for tools, depending on the model.
func FramingOf(provider string) Framing {
	if provider == "openai" {
		return Framing{Request: 3, Tools: 32, Message: 4, Call: 16, Result: 16}
	}
	return Framing{Request: 16, Tools: 1_024, Message: 8, Call: 32, Result: 32}
}

// ImageBound is the largest cost of an image, in tokens, for a model that
// scales images down to about 1.2 megapixels. It is used for images of
// unknown size.
const ImageBound Count = 1_600
