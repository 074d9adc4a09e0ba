package carrel

import (
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/manifest"
)

// The requests, results and typed errors of jobs are declared and described
// in package api, which HTTP, MCP, the console and the command line use too.
type (
	AcceptRequest        = api.AcceptRequest
	AcceptResult         = api.AcceptResult
	AmendContractRequest = api.AmendContractRequest
	AmendContractResult  = api.AmendContractResult
	AppendRequest        = api.AppendRequest
	Artifact             = api.Artifact
	ArtifactsRequest     = api.ArtifactsRequest
	AssembleRequest      = api.AssembleRequest
	AssembleResult       = api.AssembleResult
	Attempt              = api.Attempt
	BeginRequest         = api.BeginRequest
	CallAccount          = api.CallAccount
	CallSegment          = api.CallSegment
	BeginResult          = api.BeginResult
	BlockInfo            = api.BlockInfo
	BlockRequest         = api.BlockRequest
	BriefRequest         = api.BriefRequest
	BriefResult          = api.BriefResult
	Call                 = api.Call
	CallIntent           = api.CallIntent
	ProxyState           = api.ProxyState
	CallOutcome          = api.CallOutcome
	CallTally            = api.CallTally
	CallResult           = api.CallResult
	CallsRequest         = api.CallsRequest
	CheckHandoffRequest  = api.CheckHandoffRequest
	CheckSummaryRequest  = api.CheckSummaryRequest
	CheckSummaryResult   = api.CheckSummaryResult
	CloseCallsRequest    = api.CloseCallsRequest
	CloseCallsResult     = api.CloseCallsResult
	CollectRequest       = api.CollectRequest
	CommitRequest        = api.CommitRequest
	CommitResult         = api.CommitResult
	CompressRequest      = api.CompressRequest
	CompressResult       = api.CompressResult
	CompressionState     = api.CompressionState
	ContextRequest       = api.ContextRequest
	ContextResult        = api.ContextResult
	ContextShare         = api.ContextShare
	ContractClaim        = api.ContractClaim
	ContractCorrection   = api.ContractCorrection
	ContractResult       = api.ContractResult
	CostRequest          = api.CostRequest
	CostResult           = api.CostResult
	Cursor               = api.Cursor
	DecideRequest        = api.DecideRequest
	DiffRequest          = api.DiffRequest
	DiffSessionRequest   = api.DiffSessionRequest
	DiffResult           = api.DiffResult
	DiscardRequest       = api.DiscardRequest
	DiscardResult        = api.DiscardResult
	Discarded            = api.Discarded
	EndRequest           = api.EndRequest
	EndResult            = api.EndResult
	ExportRequest        = api.ExportRequest
	ExportResult         = api.ExportResult
	FollowRequest        = api.FollowRequest
	Found                = api.Found
	GetRequest           = api.GetRequest
	GetResult            = api.GetResult
	HandoffRequest       = api.HandoffRequest
	HandoffResult        = api.HandoffResult
	IDRequest            = api.IDRequest
	IDsRequest           = api.IDsRequest
	ImportRequest        = api.ImportRequest
	ImportResult         = api.ImportResult
	InvalidError         = api.InvalidError
	JournalRequest       = api.JournalRequest
	Judged               = api.Judged
	Judgement            = api.Judgement
	KeepRewriteRequest   = api.KeepRewriteRequest
	KeepRewriteResult    = api.KeepRewriteResult
	LogRequest           = api.LogRequest
	ManagedCost          = api.ManagedCost
	ManifestResult       = api.ManifestResult
	ManifestsRequest     = api.ManifestsRequest
	MarkRequest          = api.MarkRequest
	MarkResult           = api.MarkResult
	MessagesRequest      = api.MessagesRequest
	MessagesResult       = api.MessagesResult
	NewArtifact          = api.NewArtifact
	NewEpochRequest      = api.NewEpochRequest
	NewEpochResult       = api.NewEpochResult
	None                 = api.None
	PageRequest          = api.PageRequest
	PageResult           = api.PageResult
	PagedBlock           = api.PagedBlock
	PinArtifactRequest   = api.PinArtifactRequest
	PinRequest           = api.PinRequest
	PinResult            = api.PinResult
	ProbeReport          = api.ProbeReport
	ProbeRound           = api.ProbeRound
	ProbesError          = api.ProbesError
	ProbesRequest        = api.ProbesRequest
	ProbesResult         = api.ProbesResult
	Purpose              = api.Purpose
	PutRequest           = api.PutRequest
	RecallRequest        = api.RecallRequest
	RecallResult         = api.RecallResult
	RefuteRequest        = api.RefuteRequest
	RemovalResult        = api.RemovalResult
	ReplayResult         = api.ReplayResult
	ReportRequest        = api.ReportRequest
	ReportResult         = api.ReportResult
	ReviewEntry          = api.ReviewEntry
	Rewrite              = api.Rewrite
	RewritesResult       = api.RewritesResult
	Round                = api.Round
	RoundEntry           = api.RoundEntry
	RepairRequest        = api.RepairRequest
	RepairResult         = api.RepairResult
	RunProbesRequest     = api.RunProbesRequest
	RunProbesResult      = api.RunProbesResult
	ScoredEntry          = api.ScoredEntry
	SearchRequest        = api.SearchRequest
	SessionCost          = api.SessionCost
	SessionDelta         = api.SessionDelta
	SessionInfo          = api.SessionInfo
	SessionRemoval       = api.SessionRemoval
	SessionRequest       = api.SessionRequest
	SessionResult        = api.SessionResult
	SessionsRequest      = api.SessionsRequest
	ShorterError         = api.ShorterError
	StashRequest         = api.StashRequest
	StashResult          = api.StashResult
	ProtocolState        = api.ProtocolState
	StatsResult          = api.StatsResult
	Strategy             = api.Strategy
	SummaryInfo          = api.SummaryInfo
	SummaryResult        = api.SummaryResult
	Tally                = api.Tally
	Target               = api.Target
	TaskStats            = api.TaskStats
	Todo                 = api.Todo
	TriageRequest        = api.TriageRequest
	TriageResult         = api.TriageResult
	TriggerRequest       = api.TriggerRequest
	TriggerResult        = api.TriggerResult
	UndoRequest          = api.UndoRequest
	UndoResult           = api.UndoResult
	Usage                = api.Usage
	UsedEntry            = api.UsedEntry
	VerifyResult         = api.VerifyResult
	WhyAccount           = api.WhyAccount
	WhyCall              = api.WhyCall
	WhyEntry             = api.WhyEntry
	WhyLine              = api.WhyLine
	WhyName              = api.WhyName
	WhyNeed              = api.WhyNeed
	WhyResult            = api.WhyResult
	WhyUnit              = api.WhyUnit
	WordRequest          = api.WordRequest
)

// A List is a list or one page of it.
type List[T any] = api.List[T]

// Items returns the entries of l, or err if it is not nil. A caller passes it
// the two results of a job, as in Items(e.Sessions(ctx, scope, req)).
func Items[T any](l *List[T], err error) ([]T, error) { return api.Items(l, err) }

// The strategies of compression, the purposes of briefs, the ladders and the
// plain format of contexts, the sizes of briefs and pointers in tokens, and
// the time that the stash keeps an output; see package api.
const (
	StrategyAnchored     = api.StrategyAnchored
	StrategyHybrid       = api.StrategyHybrid
	StrategyRegenerative = api.StrategyRegenerative
	StrategyOpaque       = api.StrategyOpaque
	StrategyWindow       = api.StrategyWindow
	StrategyImportance   = api.StrategyImportance
	StrategyAccount      = api.StrategyAccount
	StrategyPager        = api.StrategyPager

	PurposeCompaction = api.PurposeCompaction
	PurposeRestart    = api.PurposeRestart
	PurposeMemory     = api.PurposeMemory

	TiersArticle = api.TiersArticle
	TiersSoft    = api.TiersSoft
	FormatText   = api.FormatText

	BriefTokens      = api.BriefTokens
	LeastBriefTokens = api.LeastBriefTokens
	StashTokens      = api.StashTokens
	LeastStashTokens = api.LeastStashTokens
	StashTTL         = api.StashTTL
)

// Strategies returns all strategies, the default first.
func Strategies() []Strategy { return api.Strategies() }

// Errors with which a job is refused; see package api. A thing that does not
// exist is [store.ErrNotFound].
var (
	ErrBudget    = api.ErrBudget
	ErrInvalid   = api.ErrInvalid
	ErrRequest   = api.ErrRequest
	ErrPolicy    = api.ErrPolicy
	ErrAmbiguous = api.ErrAmbiguous
	ErrFormat    = api.ErrFormat
	ErrGone      = api.ErrGone
	ErrIntegrity = api.ErrIntegrity
	ErrProbes    = api.ErrProbes
	ErrShorter   = api.ErrShorter
)

// SealedOf reads and verifies the document of r. If err is not nil, it
// returns err. A caller passes it the two results of [Engine.Manifest].
func SealedOf(r *ManifestResult, err error) (*manifest.Sealed, error) { return api.SealedOf(r, err) }
