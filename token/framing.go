package token

// A Framing says how many tokens a provider adds to the texts of a request. The
// tokens of the texts themselves, names and arguments of calls included, are
// for a [Counter].
type Framing struct {
	Request Count // once, with the opening of the reply
	Tools   Count // once, if the request defines tools; their definitions are extra
	Message Count // for each message, with its role
	Call    Count // for each tool call, with its identifier
	Result  Count // for each tool result, with its identifier
}

// FramingOf returns the framing of a provider, "openai" or "anthropic". For
// any other it is the greatest of the known ones.
//
// For OpenAI, 3 tokens around each message, 1 for its role and 3 for the
// opening of the reply are the figures that the OpenAI cookbook publishes. The
// rest is published by nobody; it is set high, so that what fits a budget here
// fits the model. Anthropic's documentation puts the text that it adds for
// tools at some hundreds of tokens, depending on the model.
func FramingOf(provider string) Framing {
	if provider == "openai" {
		return Framing{Request: 3, Tools: 32, Message: 4, Call: 16, Result: 16}
	}
	return Framing{Request: 16, Tools: 1_024, Message: 8, Call: 32, Result: 32}
}

// ImageBound is the most that an image costs a model that scales images down
// to about 1.2 megapixels, in tokens. It stands for an image of unknown size.
const ImageBound Count = 1_600
