package demo

import (
	"fmt"
	"strings"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
)

// The support desk of the OS-paged context engine's worked example: a billing escalation, and
// 847 stored artifacts about many subjects.
const (
	question     = "Customer Orla Brandt was charged twice for invoice INV-7731 and asks for a refund. What is the refund limit, and who must approve it?"
	deskArtifact = 847
	deskExpired  = 312

	policyFile = "refund-policy.md"
	oldPolicy  = "# Refund policy\n\nRefunds of up to $200 are granted by the support desk without approval. Duplicate charges count as refunds.\n"
	newPolicy  = "# Refund policy\n\nRefunds of up to $400 are granted by the support desk without approval. Duplicate charges are refunded in full; above $400 a team lead approves in the billing console.\n"
)

// desk returns the artifacts of the support desk, with ages of up to several months before now.
// The refund policy is the first. It comes from a file that has changed since.
func desk(now time.Time) []*carrel.NewArtifact {
	d := &deskMaker{now: now}
	d.add(provenance.Retrieved, "Refund policy", oldPolicy, 14*24*time.Hour, 180*24*time.Hour).Source = "file:" + policyFile
	d.add(provenance.Retrieved, "Refund policy, copy in the wiki", "Refund policy: the support desk refunds up to $200. Refund limit $200, refund approval by a manager.", 182*24*time.Hour, 90*24*time.Hour)
	d.add(provenance.Scratchpad, "Draft of a resolution", "Resolution for INV-7731: refund $200, the limit, and close. Customer Orla Brandt charged twice. Not checked.", 2*time.Hour, 24*time.Hour)
	d.verified()
	d.articles()
	d.customer()
	d.rest()
	return d.all
}

// deskMaker makes artifacts, each with an id of its own.
type deskMaker struct {
	now time.Time
	all []*carrel.NewArtifact
	old int // number of expired artifacts
}

// add adds an artifact with an age and a time to live.
func (d *deskMaker) add(class provenance.Class, title, text string, age, ttl time.Duration) *carrel.NewArtifact {
	req := &carrel.NewArtifact{
		ID: store.ArtifactID(fmt.Sprintf("d%04d", len(d.all)+1)), Class: class, Title: title, Content: []byte(text),
		Created: d.now.Add(-age), TTL: &ttl,
	}
	if class == provenance.Verified {
		req.VerifiedBy = "dana"
	}
	if age >= ttl {
		d.old++
	}
	d.all = append(d.all, req)
	return req
}

const deskDay = 24 * time.Hour

// verified adds artifacts that people verified.
func (d *deskMaker) verified() {
	for i, fact := range []string{
		"Finance raised the refund limit of the support desk from $200 to $400 on December 18. Dana confirmed it with the controller.",
		"A duplicate charge is a billing error, not a goodwill refund: it is refunded in full and reported to billing.",
		"Orla Brandt is on the Business plan since 2023 and has one open invoice, INV-7731, over $380.",
		"Refunds above the limit need the approval of a team lead in the billing console; an email does not count.",
	} {
		d.add(provenance.Verified, fmt.Sprintf("Fact %d of the billing desk", i+1), fact, time.Duration(12-i)*deskDay, 365*deskDay)
	}
}

// articles adds the relevant articles of the knowledge base.
func (d *deskMaker) articles() {
	for i, title := range []string{
		"How duplicate charges happen", "Refund an invoice in the billing console", "Approval of refunds by team leads",
		"Talking to a customer who was charged twice", "Limits of the support desk", "When a refund reaches the customer",
		"Escalate a billing case",
	} {
		d.add(provenance.Retrieved, title, prose(title, billingWords, 8800+200*i, i), time.Duration(2+i)*deskDay, 120*deskDay)
	}
}

// customer adds the tickets and chats of this customer.
func (d *deskMaker) customer() {
	for i := range 4 {
		d.add(provenance.Tool, fmt.Sprintf("Ticket %d of Orla Brandt", 4410+i),
			prose(fmt.Sprintf("Ticket %d: customer Orla Brandt, invoice INV-7731, charged twice, refund", 4410+i), billingWords, 9000, 40+i),
			time.Duration(1+3*i)*time.Hour, 30*deskDay)
	}
	for i := range 2 {
		d.add(provenance.Transcript, fmt.Sprintf("Chat with Orla Brandt, part %d", i+1), talk(i), time.Duration(5+i)*time.Hour, 60*deskDay)
	}
}

// rest fills the store with irrelevant artifacts: other subjects, other customers, unreviewed
// notes, and many expired ones.
func (d *deskMaker) rest() {
	classes := []provenance.Class{provenance.Retrieved, provenance.Tool, provenance.Transcript, provenance.Tool, provenance.Retrieved, provenance.Scratchpad}
	for i := 0; len(d.all) < deskArtifact; i++ {
		class := classes[i%len(classes)]
		topic := otherTopics[i%len(otherTopics)]
		title := fmt.Sprintf("%s, case %d", topic, 1000+i)
		age := time.Duration(20+i%60) * deskDay
		ttl := age + time.Duration(1+i%40)*deskDay
		if d.old < deskExpired && i%5 < 2 {
			ttl = age - time.Duration(1+i%15)*deskDay // expired
		}
		d.add(class, title, prose(title, otherWords, 300+17*(i%50), i), age, ttl)
	}
}

var otherTopics = []string{
	"Reset a password", "Delay of a parcel", "Change of address", "Broken hinge", "Export of contacts", "Slow search",
	"Print of a label", "Invite to a workspace", "Missing manual", "Dark theme", "Time zone of a report",
}

const otherWords = `The label printer answers after a restart and the parcel leaves on Monday . The carrier sends
a new number for the second box . A hinge of this model holds four years when nobody leans on the door . The workspace
owner invites people from the settings page . Search is slow when the index has not been built since the import . The
report shows the time zone of the reader and not of the writer . An address changes at once for letters and overnight
for parcels . The manual of the older model is in the archive of the site . Contacts leave as a table with one row for
each person . The dark theme follows the system unless it is set by hand .`

const billingWords = `A card is charged twice when the gateway times out and the client sends the payment again with
a new key . The console shows both charges with the same invoice and two references . The desk opens the invoice , picks the
second charge and refunds it as a duplicate . The refund limit of the desk counts for goodwill and not for errors . A team
lead approves what is above the limit , and the console records who did . The bank takes three to five days to show the
refund to the customer . The case is escalated when the charges have different amounts or one of them was disputed . Write
to the customer which charge is refunded , how much , and when it arrives . A note in the ticket names the reference of the
refund and the person who approved it . Invoices stay open until the gateway confirms the reversal .`

// prose makes a text of about size bytes from the words of the given text. Equal arguments give
// equal results.
func prose(title, text string, size, seed int) string {
	words := strings.Fields(text)
	var b strings.Builder
	b.WriteString("# " + title + "\n\n")
	at := seed * 37
	for n := 0; b.Len() < size; n++ {
		w := words[at%len(words)]
		at++
		if w == "." {
			at += (seed*13 + n*7) % len(words) / 3
			for words[at%len(words)] != "." {
				at++
			}
			at++
			b.WriteString(".\n")
			continue
		}
		if s := b.String(); w != "," && !strings.HasSuffix(s, "\n") {
			b.WriteByte(' ')
		}
		b.WriteString(w)
	}
	b.WriteString(".\n")
	return b.String()
}

// talk returns a part of the chat.
func talk(part int) string {
	return prose("Chat", "customer: I was charged twice for INV-7731 . agent: I see two charges of $380 and ask billing . customer: How long does the refund take .", 5200+600*part, part)
}
