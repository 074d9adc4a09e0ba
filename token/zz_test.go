package token
import ("testing";"math/rand/v2";"os";"path/filepath";"strings"
 "github.com/pkoukk/tiktoken-go"
 loader "github.com/pkoukk/tiktoken-go-loader")
func TestZZ(t *testing.T){
 tiktoken.SetBpeLoader(loader.NewOfflineLoader())
 for _,e:=range encodings(){
  ref,err:=tiktoken.GetEncoding(e.name); if err!=nil{t.Fatal(err)}
  r:=rand.New(rand.NewPCG(9,9)); bad:=0; n:=0
  for range 60000 { var b strings.Builder; for range r.IntN(30){ b.WriteRune(alphabet[r.IntN(len(alphabet))]) }; s:=b.String()
   if strings.Contains(s,"'ſ"){continue}
   n++
   if w,g:=len(ref.EncodeOrdinary(s)),int(e.Count(s));w!=g{bad++; if bad<5{t.Errorf("%s %q got %d want %d",e.name,s,g,w)}}}
  files,_:=filepath.Glob("/usr/local/go/src/*/*.go"); if len(files)==0{files,_=filepath.Glob(os.Getenv("GR")+"/src/*/*.go")}
  tot:=0
  for i,f:=range files{ if i%6!=0{continue}; d,_:=os.ReadFile(f); if len(d)>100000{continue}; s:=string(d); w,g:=len(ref.EncodeOrdinary(s)),int(e.Count(s)); tot+=w; if w!=g{t.Errorf("%s %s got %d want %d",e.name,f,g,w)}}
  t.Log(e.name,n,"strings",bad,"differ; file tokens",tot)
 }
}
