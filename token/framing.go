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

// Image returns the number of tokens of an image by its size in pixels, as
// Anthropic counts: width·height/750, rounded up, but at most [ImageBound],
// since larger images are scaled down first. If the size is not known, that is
// if a side is not positive, it returns ImageBound.
//
// Models that take more pixels, as Claude Opus 4.7 was the first to do, may
// count up to three times the bound for an image of full size.
func Image(width, height int) Count {
	if width <= 0 || height <= 0 {
		return ImageBound
	}
	// An image with a side of 1 200 000 pixels is over the bound already, so
	// nothing is lost by the cut, and the product cannot overflow.
	const side = 1_200_000
	pixels := int64(min(width, side)) * int64(min(height, side))
	return Count(min((pixels+749)/750, int64(ImageBound)))
}
