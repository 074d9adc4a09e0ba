// Package exam measures whether a window still has the information that later work needs. It
// asks questions about the first part of conversations, from windows of the same size.
//
// # Exams
//
// An [Exam] is a JSON file of sessions. A session has the path of a conversation, the number
// of its lines before the cut, and questions. A question has its answer and the strings that
// a window must have to answer it. [Session.Open] reads the conversation and fails if a string
// of a question is not in the lines before the cut.
//
// # Windows
//
// A [Method] makes a window of the lines before the cut: a strategy of Carrel's engine, a
// simple method or a peer of package retention, or texts from a folder. Windows are compared
// as text ([Render]), and their size is limited to a share of the bytes of the whole text.
// Methods count size in different units, so the target of each is varied until its window
// fills the limit.
//
// # By strings
//
// [Measure] searches windows for the strings, without a model. It ignores order, roles and
// false statements, and does not recognize a paraphrase.
//
// # By readers
//
// [Run.Prepare] writes papers, each with a window and questions, into the folder of a [Run].
// [Run.Ask] has a model answer each paper, which is all that the model sees. [Run.Sheets] puts
// all answers to a question on a sheet, under letters that are shuffled for each question, and
// [Run.Grade] has a second model grade them. [Run.Scores] adds up the grades. All of these are
// JSON files, which may also be written by hand: doc/guide/exam.md describes them.
//
// # Determinism
//
// Equal files and options give equal windows, sheets and scores. Intervals contain 95 percent
// of 1,000 draws of questions, the same draws for all methods, in millionths. Replies of
// models differ from run to run; they are stored.
package exam
