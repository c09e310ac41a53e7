#!/usr/bin/env python3
"""Compare the sites of inlined functions with what llvm-dwarfdump says of the same DWARF.

    btflite -J --btf_features=default,inline --btf_encode_detached=x.btf VMLINUX
    btflite dump x.btf > x.txt
    scripts/inlined-sites.py VMLINUX x.txt 2000 1

Units are drawn at random, by the seed that comes last, until there are so many sites. Of
each site it works out the function, the address and the place of every parameter from
llvm-dwarfdump's text and from the view numbers in .debug_loclists, and prints what btflite
has not got the same. It shares no code with btflite. It needs readelf and llvm-dwarfdump,
and does not read files whose units refer to each other.
"""
import sys,re,subprocess,random,struct,json
elf, btftxt, want, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
bits=64; be=False
h=open(elf,'rb').read(20); be=h[5]==2; bits=64 if h[4]==2 else 32
A=bits//8
secs={}
for l in subprocess.run(['readelf','-SW',elf],capture_output=True,text=True).stdout.splitlines():
    m=re.match(r'\s*\[\s*(\d+)\]\s+(\S+)\s+(\S+)\s+([0-9a-f]+)\s+([0-9a-f]+)\s+([0-9a-f]+)\s+\S+\s+(\w*)',l)
    if m: secs[m[2]]=(int(m[4],16),int(m[5],16),int(m[6],16),m[7])
base=min(v[0] for v in secs.values() if 'X' in v[3] and 'A' in v[3] and v[2])
code=[(k,)+v for k,v in secs.items() if 'X' in v[3] and 'A' in v[3]]
f=open(elf,'rb')
def sect(n):
    if n not in secs: return b''
    f.seek(secs[n][1]); return f.read(secs[n][2])
loclists=sect('.debug_loclists'); loc=sect('.debug_loc')
info_off,info_len=secs['.debug_info'][1],secs['.debug_info'][2]
E='>' if be else '<'
cus=[];o=0
while o<info_len:
    f.seek(info_off+o); L,=struct.unpack(E+'I',f.read(4)); cus.append((o,L+4)); o+=L+4
# sites of BTF
params={};protos={};fproto={};funcs={};sites={}
cur=None
for l in open(btftxt):
    if l[0]=='[':
        m=re.match(r"\[(\d+)\] (\w+) '(.*?)'(.*)",l); i=int(m[1]);k=m[2];cur=None
        if k=='LOC_PARAM': params[i]=(re.search(r"values='(.*)'",l)[1],int(re.search(r'size=(\d+)',l)[1]))
        elif k=='LOC_PROTO': protos[i]=[];cur=('p',i)
        elif k=='FUNC_PROTO': fproto[i]=[];cur=('f',i)
        elif k=='FUNC': funcs[i]=(m[3],int(re.search(r'type_id=(\d+)',l)[1]))
        elif k=='LOCSEC': cur=('s',m[3][6:])
    elif cur:
        if cur[0]=='p': protos[cur[1]].append(int(re.search(r'type_id=(\d+)',l)[1]))
        elif cur[0]=='f': fproto[cur[1]].append(re.match(r"\t'(.*?)'",l)[1])
        else:
            m=re.search(r"func_type_id=(\d+) loc_proto_type_id=(\d+) offset=(\d+)",l)
            a=secs[cur[1]][0]+int(m[3]); sites.setdefault(a,[]).append((int(m[1]),int(m[2])))
def btfsites(a):
    out=[]
    for fn,p in sites.get(a,[]):
        n,pr=funcs[fn]; names=[x for x in fproto[pr]]
        out.append((n,tuple((nm,params[q][0] if q else '') for nm,q in zip(names,protos[p]) if nm!='(anon)')))
    return out
def uleb(b,p):
    v=s=0
    while True:
        c=b[p];p+=1;v|=(c&127)<<s;s+=7
        if c<128: return v,p
class D: pass
def parse(text):
    root=[];stack=[];dies={};last=None;attr=None
    for l in text.splitlines():
        m=re.match(r'0x([0-9a-f]+):(\s+)(DW_TAG_\w+|NULL)',l)
        if m:
            if m[3]=='NULL': attr=None; continue
            d=D();d.off=int(m[1],16);d.tag=m[3][7:];d.ind=len(m[2]);d.a={};d.c=[]
            while stack and stack[-1].ind>=d.ind: stack.pop()
            d.parent=stack[-1] if stack else None
            if stack: stack[-1].c.append(d)
            stack.append(d);dies[d.off]=d;last=d;attr=None;continue
        m=re.match(r'\s+(DW_AT_\w+)\t\((.*)',l)
        if m and last:
            attr=m[1][6:];last.a[attr]=m[2]
        elif attr and last: last.a[attr]+='\n'+l.strip()
    return dies
def ref(v):
    m=re.match(r'(?:cu \+ 0x[0-9a-f]+ => \{)?0x([0-9a-f]+)',v); return int(m[1],16)
def sname(v):
    m=re.match(r'"(.*)"\)',v); return m[1]
def num(v):
    return int(re.match(r'-?(0x[0-9a-f]+|\d+)',v)[0],0)
def typeof(d,dies):
    # size, signed
    for _ in range(64):
        if 'type' not in d.a and d.tag not in('base_type','pointer_type','enumeration_type','structure_type','union_type'): return 0,False
        if d.tag=='pointer_type': return A,False
        if d.tag=='base_type':
            e=d.a.get('encoding',''); return num(d.a['byte_size']), ('signed' in e and 'unsigned' not in e)
        if d.tag=='enumeration_type': return num(d.a['byte_size']),None
        if d.tag in('structure_type','union_type'): return (num(d.a['byte_size']) if 'byte_size' in d.a else 0),False
        if d.tag in('array_type','subroutine_type'): return 0,False
        t=ref(d.a['type'])
        if t not in dies: return None,None
        d=dies[t]
    return 0,False
def ctext(v,size,signed):
    v&=(1<<(8*size))-1
    if signed and v>>(8*size-1): return '-0x%x'%((1<<(8*size))-v)
    return '0x%x'%v
def rtext(reg,off,mem):
    r='fbreg' if reg=='fb' else 'reg%d'%reg
    if off==0 and (mem or reg!='fb'): t=r
    else: t='%s %s 0x%x'%(r,'-' if off<0 else '+',abs(off))
    return '*(%s)'%t if mem else t
def s64(x):
    x&=(1<<64)-1
    return x-(1<<64) if x>>63 else x
def place(expr,size,signed,entry):
    # returns text, '' missing, or None if this checker does not judge
    if size is None: return None
    ops=[]
    e=expr.strip()
    if not e: return ''
    # split at commas outside parens
    depth=0;cur=''
    for ch in e:
        if ch=='(':depth+=1
        if ch==')':depth-=1
        if ch==',' and depth==0: ops.append(cur.strip());cur=''
        else: cur+=ch
    ops.append(cur.strip())
    if size<1 or size>16: return ''
    st=[];res=None;pieces=[];W=None
    # values: ('c',v) ('r',reg,off,width) ('m',reg,off,width) ('a',addr)
    for op in ops:
        w=op.split()
        n=w[0]
        if n=='DW_OP_nop': continue
        if n=='DW_OP_piece':
            if res is None:
                if not st: return ''
                v=st.pop()
                if st or v[0]!='r': return ''
                res=('mem',v[1],v[2])
            pieces.append((res,int(w[1],0)));res=None;continue
        if res is not None: return ''
        m=re.match(r'DW_OP_lit(\d+)$',n)
        if m: st.append(('c',int(m[1])));continue
        m=re.match(r'DW_OP_const(\w+)$',n)
        if m and m[1]!='x' and 'type' not in m[1]: st.append(('c',int(w[1],0)));continue
        m=re.match(r'DW_OP_reg(\d+)$',n)
        if m:
            if st: return ''
            res=('reg',int(m[1]));continue
        if n=='DW_OP_regx': res=('reg',int(re.search(r'0x[0-9a-f]+|\d+',op[10:])[0],0)); continue
        m=re.match(r'DW_OP_breg(\d+)$',n)
        if m:
            off=int(re.search(r'([+-]\d+)$',op)[1]); st.append(('r',int(m[1]),off,None));continue
        if n=='DW_OP_fbreg': st.append(('r','fb',int(w[1]),None));continue
        if n=='DW_OP_addr': st.append(('a',int(w[1],16)));continue
        if n=='DW_OP_plus_uconst':
            v=st.pop(); k=int(w[1],0)
            if v[0]=='c': st.append(('c',v[1]+k))
            elif v[0]=='r': st.append(('r',v[1],v[2]+k,v[3]))
            elif v[0]=='a': st.append(('a',v[1]+k))
            else: return ''
            continue
        if n in('DW_OP_plus','DW_OP_minus','DW_OP_and'):
            b=st.pop();a=st.pop()
            if a[0]=='c' and n!='DW_OP_minus': a,b=b,a
            if b[0]!='c': return ''
            k=b[1]
            if n=='DW_OP_and':
                if a[0]=='c': st.append(('c',(a[1]&k)&((1<<64)-1)));continue
                k&=(1<<64)-1
                mw={0xff:1,0xffff:2,0xffffffff:4}.get(k)
                if mw is None: return ''
                if a[0]=='m' and be and a[3]!=mw: return ''
                if a[0]=='a': return '' if size>mw else None
                st.append((a[0],a[1],a[2],min(x for x in(a[3],mw) if x)));continue
            if n=='DW_OP_minus': k=-k
            if a[0]=='c': st.append(('c',a[1]+k))
            elif a[0]=='r': st.append(('r',a[1],a[2]+k,a[3]))
            elif a[0]=='a': st.append(('a',a[1]+k))
            else: return ''
            continue
        if n in('DW_OP_deref','DW_OP_deref_size'):
            v=st.pop(); wd=A if n=='DW_OP_deref' else int(w[1],0)
            if v[0]!='r' or (v[3] and v[3]<A): return ''
            st.append(('m',v[1],v[2],wd));continue
        m=re.match(r'DW_OP_(GNU_)?entry_value\((.*)\)$',op)
        if m:
            if not entry: return ''
            q=re.match(r'DW_OP_reg(\d+)( |$)',m[2])
            if not q: return ''
            st.append(('r',int(q[1]),0,None));continue
        if n=='DW_OP_implicit_value':
            bs=[int(x,16) for x in w[2:]]
            if st or len(bs)!=size or size>8: return ''
            v=0
            for x in (bs if be else bs[::-1]): v=v<<8|x
            return ctext(v,size,signed)
        if n=='DW_OP_stack_value':
            v=st.pop()
            if st: return ''
            res=('val',v);continue
        return ''
    def final(res,sz,whole):
        if res[0]=='reg': return 'reg%d'%res[1]
        if res[0]=='mem': return rtext(res[1],res[2],True)
        v=res[1]
        if v[0]=='c':
            if sz>8 or sz>A: return ''
            return ctext(v[1],sz,signed)
        if v[0]=='a':
            if sz>8 or sz>A: return ''
            if v[1]<base: return ctext(v[1],sz,signed)
            return '0x%x (addr)'%(v[1]-base)
        wd=v[3] or A
        if v[0]=='m':
            if sz>wd or (be and sz!=wd): return ''
            return rtext(v[1],s64(v[2]),True)
        if sz>wd: return ''
        return rtext(v[1],s64(v[2]),False)
    if pieces:
        if res is not None or st: return ''
        if sum(p[1] for p in pieces)!=size: return ''
        if len(pieces)==1: return final(pieces[0][0],size,True)
        if len(pieces)==2:
            (r1,n1),(r2,n2)=pieces
            if r1[0]=='reg' and r2[0]=='reg' and n1==A and (n2==A or n2<A and not be): return 'reg%d reg%d'%(r1[1],r2[1])
            if r1[0]=='val' and r2[0]=='val' and r1[1][0]=='c' and r2[1][0]=='c' and size<=8:
                if be: v=(r1[1][1]<<(8*n2))|(r2[1][1]&((1<<8*n2)-1))
                else: v=(r1[1][1]&((1<<8*n1)-1))|(r2[1][1]<<(8*n1))
                return ctext(v,size,signed)
        return ''
    if res is None:
        if len(st)!=1: return ''
        v=st[0]
        if v[0]!='r' or (v[3] and v[3]<A): return ''
        res=('mem',v[1],v[2])
    return final(res,size,True)
def entrypc(d):
    if 'entry_pc' in d.a: return int(re.match(r'0x([0-9a-f]+)',d.a['entry_pc'])[1],16)
    if 'low_pc' in d.a: return int(re.match(r'0x([0-9a-f]+)',d.a['low_pc'])[1],16)
    if 'ranges' in d.a:
        m=re.search(r'\[0x([0-9a-f]+), 0x',d.a['ranges']); return int(m[1],16) if m else None
    return None
random.seed(seed)
order=cus[:];random.shuffle(order)
n=good=unj=bad=nosec=pcount=0;units=0;miss=0;nounit=0
for off,ln in order:
    if n>=want: break
    if ln>3_000_000: continue
    f.seek(info_off+off+4); ver,=struct.unpack(E+'H',f.read(2))
    f.seek(info_off+off); 
    hdr=12 if ver>=5 else 11
    t=subprocess.run(['llvm-dwarfdump','--debug-info=0x%x'%(off+hdr),'-c',elf],capture_output=True,text=True).stdout
    dies=parse(t);units+=1
    for d in list(dies.values()):
        if d.tag!='inlined_subroutine': continue
        a=entrypc(d)
        if not a: continue
        fn=d.parent
        while fn and fn.tag!='subprogram': fn=fn.parent
        if fn is None: continue
        q=fn; abstract=False
        if 'inline' in fn.a or 'declaration' in fn.a or not('low_pc' in fn.a or 'ranges' in fn.a): continue
        if not any(s[1]<=a<s[1]+s[3] for s in code): nosec+=1;continue
        org=dies.get(ref(d.a['abstract_origin']))
        if org is None: nounit+=1;continue
        for _ in range(8):
            if 'abstract_origin' in org.a: org=dies.get(ref(org.a['abstract_origin']))
        name=sname(org.a['name'])
        fp=[c for c in org.c if c.tag=='formal_parameter']
        have={}
        for c in d.c:
            if c.tag=='formal_parameter' and 'abstract_origin' in c.a: have.setdefault(ref(c.a['abstract_origin']),[]).append(c)
        view=num(d.a['GNU_entry_view']) if 'GNU_entry_view' in d.a and 'entry_pc' in d.a else 0
        fe=entrypc(fn)
        exp=[]
        judged=True
        for p in fp:
            pn=sname(p.a['name']) if 'name' in p.a else ''
            cs=have.get(p.off)
            td=dies.get(ref(p.a['type'])) if 'type' in p.a else None
            size,signed=typeof(td,dies) if td else (None,None)
            if not cs: exp.append((pn,''));continue
            def one(c):
                if 'const_value' in c.a:
                    try: v=num(c.a['const_value'])
                    except (ValueError,TypeError): return None
                    return ctext(v,size,signed) if size and 1<=size<=8 else ''
                if 'location' not in c.a: return ''
                L=c.a['location'].strip()
                m=re.match(r'(?:indexed \(0x[0-9a-f]+\) loclist = )?0x([0-9a-f]+):? *\n',L)
                if not m: return place(L.rstrip(')') if L.count('(')<L.count(')') else L,size,signed,a==fe)
                vb=num(c.a['GNU_locviews']) if 'GNU_locviews' in c.a else None
                data=loclists if ver>=5 else loc
                lines=L.split('\n')[1:]
                lines=[x for x in lines if x]
                lines[-1]=re.sub(r'\)$','',lines[-1])
                for x in lines:
                    m=re.match(r'\[0x([0-9a-f]+), 0x([0-9a-f]+)\)(?: "[^"]*")?: ?(.*)',x)
                    if not m: continue
                    lo,hi=int(m[1],16),int(m[2],16)
                    b1=b2=0
                    if vb is not None: b1,vb=uleb(data,vb);b2,vb=uleb(data,vb)
                    pt=(a,view if 'GNU_locviews' in c.a else 0)
                    if (lo,b1)<=pt<(hi,b2):
                        e=place(m[3],size,signed,a==fe)
                        if e!='': return e
                return ''
            e=''
            for c in cs:
                e=one(c)
                if e!='': break
            exp.append((pn,e))
            pcount+=1
            if e=='' : miss+=1
        n+=1
        got=btfsites(a)
        def same(g):
            if g[0]!=name or len(g[1])!=len(exp): return False
            for (gn,gv),(en,ev) in zip(g[1],exp):
                if gn!=en: return False
                if ev is None: continue
                if gv!=ev and not(ev and ev.startswith('-') and gv==ev): 
                    # enum signedness is not judged
                    return False
            return True
        if any(same(g) for g in got): good+=1
        else:
            bad+=1
            if bad<=50: print('BAD',hex(a),name,'want',exp,'have',[g for g in got if g[0]==name],'view',view,'die',hex(d.off))
sys.stdout.flush()
print(json.dumps(dict(elf=elf.split('/')[-1],units=units,sites=n,agree=good,differ=bad,params=pcount,missing=miss,nosection=nosec,other_unit=nounit)))
sys.exit(bad>0)
