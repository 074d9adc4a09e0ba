package limn

// topicLimn is the help about the language. A test runs its example.
const topicLimn = `Limn runs, checks and formats programs of Liminate, the language in which Carrel
writes contracts: sentences of a bounded vocabulary that execute. A program is
lines, and each is a statement, a comment after --, or blank. Case, commas and
full stops do not matter outside of quotes, and "a", "an" and "the" are optional.

Names and values. Lists hold one kind of thing; records have fields.

    -- a desk with three books
    remember a number called limit with 30
    remember a list called open with north and south and east
    remember a book called north with pages as 12 and state as "in use"
    remember a book called south with pages as 40 and state as idle
    remember a list called books with north and south
    add "west" to open
    remove east from open
    assign limit to 35

Looking. Keep copies what meets a condition, filter leaves only that.

    show limit
    count the open
    show pages of north
    keep the books where pages is above 20
    each the books show pages
    show highest pages of books

Conditions: is 5, is above 5, is below 5, is equal to 5, is within 2 of 5,
includes 5. "Not" stands before above, below, equal to and includes, or before a
defined condition: is not above 5, is not huge. They are joined by "and" or by
"or". One that mixes the two is asked about first (--test says yes).

    choose if limit is above 30: show "large" otherwise show "small"

Rules. Require and forbid fail, which run --strict turns into exit code 1;
permit and expect only report. Any of them may have a reason, and all but
"require each" an exception.

    require open includes "west" because "it was asked for"
    forbid limit is above 30 unless open includes "north"
    require each book in books pages is below 100
    define huge: is above 1000
    forbid limit is huge

Doing. An operation can have a name, and operations can follow one another.

    remember how to double from n: assign twice to n multiplied by 2
    double from limit then show twice

Handlers run once the lines are done, whenever their condition becomes true.
Values change by what other handlers do, and by packs: a timer counts "tick",
a stdin pack reads each "line", a file-watcher reports each "changed-file".

    when limit is above 30
      show "over"
      assign limit to 20

Further verbs: gather, sum, sort, transform, compare, weakens, finish.

Packs add verbs. --pack session has cite, verify, measure and fit, which hold
claims against sources that were remembered: cite "120 patients" from paper.
--pack research adds check and validate. A pack can also be a JSON file; one such
as {"name": "in", "type": "stdin"} makes a program listen to its input.

A word of the vocabulary is no name: choose another word for a name. Where it is
a text, quote it, as in "filter". "limn check" finds errors without a run, and
statements that an older reader does not know.`
