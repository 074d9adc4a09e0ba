package limn

import "slices"

// A Category is the kind of a reserved word.
type Category string

// The categories. A trigger begins an operator of two words, such as "equal to".
// A tombstone is a word that was renamed and means nothing any more.
const (
	Verb        Category = "verb"
	Connective  Category = "connective"
	Operator    Category = "operator"
	Trigger     Category = "trigger"
	Article     Category = "article"
	Declaration Category = "declaration"
	Tombstone   Category = "tombstone"
)

// A Keyword is a reserved word of the language.
type Keyword struct {
	Text     string
	Category Category
}

// Words returns the reserved words by category: 61, and the tombstone "combine"
// at the end. The words of packs are not among them.
func Words() []Keyword {
	return slices.Clone(vocabulary[kwRemember : kwCombine+1])
}

// Reserved reports whether a word is one of [Words], so that nothing can have it
// as its name. Words are in lower case.
func Reserved(word string) bool {
	return keywords[word] != kwNone
}

// A keyword is an index of vocabulary.
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

	// The operators of two words, which the lexer makes.
	kwEqualTo
	kwMultipliedBy
	kwDividedBy
)

// vocabulary holds the words by their index. It is never written.
var vocabulary = [...]Keyword{
	kwRemember:  {"remember", Verb},
	kwShow:      {"show", Verb},
	kwFilter:    {"filter", Verb},
	kwKeep:      {"keep", Verb},
	kwCount:     {"count", Verb},
	kwGather:    {"gather", Verb},
	kwSum:       {"sum", Verb},
	kwEach:      {"each", Verb},
	kwChoose:    {"choose", Verb},
	kwFinish:    {"finish", Verb},
	kwAdd:       {"add", Verb},
	kwRemove:    {"remove", Verb},
	kwWeakens:   {"weakens", Verb},
	kwRequire:   {"require", Verb},
	kwForbid:    {"forbid", Verb},
	kwPermit:    {"permit", Verb},
	kwAssign:    {"assign", Verb},
	kwExpect:    {"expect", Verb},
	kwSort:      {"sort", Verb},
	kwCompare:   {"compare", Verb},
	kwTransform: {"transform", Verb},

	kwWhere:     {"where", Connective},
	kwAnd:       {"and", Connective},
	kwOr:        {"or", Connective},
	kwFrom:      {"from", Connective},
	kwWith:      {"with", Connective},
	kwCalled:    {"called", Connective},
	kwTo:        {"to", Connective},
	kwHow:       {"how", Connective},
	kwAs:        {"as", Connective},
	kwOf:        {"of", Connective},
	kwIf:        {"if", Connective},
	kwOtherwise: {"otherwise", Connective},
	kwWhen:      {"when", Connective},
	kwUnless:    {"unless", Connective},
	kwIncludes:  {"includes", Connective},
	kwWithin:    {"within", Connective},
	kwOver:      {"over", Connective},
	kwThen:      {"then", Connective},
	kwBy:        {"by", Connective},
	kwBecause:   {"because", Connective},
	kwStarting:  {"starting", Connective},
	kwUntil:     {"until", Connective},

	kwIs:        {"is", Operator},
	kwAbove:     {"above", Operator},
	kwBelow:     {"below", Operator},
	kwNot:       {"not", Operator},
	kwPlus:      {"plus", Operator},
	kwMinus:     {"minus", Operator},
	kwReverse:   {"reverse", Operator},
	kwInherited: {"inherited", Operator},
	kwHighest:   {"highest", Operator},
	kwLowest:    {"lowest", Operator},

	kwEqual:      {"equal", Trigger},
	kwMultiplied: {"multiplied", Trigger},
	kwDivided:    {"divided", Trigger},

	kwThe: {"the", Article},
	kwA:   {"a", Article},
	kwAn:  {"an", Article},

	kwAbout:  {"about", Declaration},
	kwDefine: {"define", Declaration},

	kwCombine: {"combine", Tombstone},

	kwEqualTo:      {"equal to", Operator},
	kwMultipliedBy: {"multiplied by", Operator},
	kwDividedBy:    {"divided by", Operator},
}

// keywords finds the words of [Words]. It is never written.
var keywords = func() map[string]keyword {
	m := make(map[string]keyword, kwCombine)
	for k := kwRemember; k <= kwCombine; k++ {
		m[k.String()] = k
	}
	return m
}()

// longest is the length of the longest reserved word, "multiplied".
const longest = 10

func (k keyword) String() string     { return vocabulary[k].Text }
func (k keyword) category() Category { return vocabulary[k].Category }
