package limn

import "github.com/carrel-dev/carrel/internal/lazy"

// A category is the grammatical kind of a reserved word.
type category string

// The categories. A trigger begins an operator of two words, such as "equal
// to". A tombstone is a former word without a meaning.
const (
	catVerb        category = "verb"
	catConnective  category = "connective"
	catOperator    category = "operator"
	catTrigger     category = "trigger"
	catArticle     category = "article"
	catDeclaration category = "declaration"
	catTombstone   category = "tombstone"
)

// Reserved reports whether the language reserves a lower-case word, so that
// it cannot be a name. The former verb "combine" is reserved, although it can
// be a text without quotes; words of packs are not.
func Reserved(word string) bool { return keywords.Get()[word] != kwNone }

// A keyword is a word of the language, given by its index in vocabulary.
type keyword uint8

const (
	kwNone keyword = iota

	kwRemember
	kwShow
	kwFilter
	kwKeep
	kwCount
	kwGather
	kwSum
	kwEach
	kwChoose
	kwFinish
	kwAdd
	kwRemove
	kwWeakens
	kwRequire
	kwForbid
	kwPermit
	kwAssign
	kwExpect
	kwSort
	kwCompare
	kwTransform

	kwWhere
	kwAnd
	kwOr
	kwFrom
	kwWith
	kwCalled
	kwTo
	kwHow
	kwAs
	kwOf
	kwIf
	kwOtherwise
	kwWhen
	kwUnless
	kwIncludes
	kwWithin
	kwOver
	kwThen
	kwBy
	kwBecause
	kwStarting
	kwUntil

	kwIs
	kwAbove
	kwBelow
	kwNot
	kwPlus
	kwMinus
	kwReverse
	kwInherited
	kwHighest
	kwLowest

	kwEqual
	kwMultiplied
	kwDivided

	kwThe
	kwA
	kwAn

	kwAbout
	kwDefine

	kwCombine

	// Operators of two words. The lexer joins the two words into one lexeme.
	kwEqualTo
	kwMultipliedBy
	kwDividedBy
)

// vocabulary has the word for each keyword. The array is never changed.
var vocabulary = [...]string{
	kwRemember: "remember", "show", "filter", "keep", "count", "gather", "sum", "each", "choose", "finish", "add",
	kwRemove: "remove", "weakens", "require", "forbid", "permit", "assign", "expect", "sort", "compare", "transform",

	kwWhere: "where", "and", "or", "from", "with", "called", "to", "how", "as", "of", "if", "otherwise", "when",
	kwUnless: "unless", "includes", "within", "over", "then", "by", "because", "starting", "until",

	kwIs: "is", "above", "below", "not", "plus", "minus", "reverse", "inherited", "highest", "lowest",

	kwEqual: "equal", "multiplied", "divided",
	kwThe: "the", "a", "an",
	kwAbout: "about", "define",

	kwCombine: "combine",
	kwEqualTo: "equal to", "multiplied by", "divided by",
}

// keywords maps each reserved word to its keyword. The map is never changed.
var keywords = lazy.Value[map[string]keyword]{Make: func() map[string]keyword {
	m := make(map[string]keyword, kwCombine)
	for k := kwRemember; k <= kwCombine; k++ {
		m[k.String()] = k
	}
	return m
}}

// longest is the length of the longest reserved word, "multiplied".
const longest = 10

func (k keyword) String() string { return vocabulary[k] }

// category returns the kind of a word.
func (k keyword) category() category {
	switch {
	case k == kwNone:
		return ""
	case k < kwWhere:
		return catVerb
	case k < kwIs:
		return catConnective
	case k < kwEqual || k > kwCombine:
		return catOperator
	case k < kwThe:
		return catTrigger
	case k < kwAbout:
		return catArticle
	case k < kwCombine:
		return catDeclaration
	}
	return catTombstone
}
