# The accesses to shared memory that codegen/src/analysis/banks.rs was read off: `python3 patterns.py` writes patterns.h, then
#   nvcc -std=c++17 -arch=sm_90 -o waves waves.cu
#   ncu --clock-control none --csv --metrics l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum ./waves
# counts each: six launches a pattern, loads of 16, 8, 4 bytes and stores of the same.
import random
random.seed(11)
P=[]
def add(name,f,active=None):
    idx=[f(l) if active is None or active(l) else -1 for l in range(32)]
    P.append((name,idx))
add('lane',lambda l:l)
add('same',lambda l:0)
add('half',lambda l:l//16)
add('eighth',lambda l:l//8)
add('quad',lambda l:l//4)
add('pair',lambda l:l//2)
add('mod2',lambda l:l%2)
add('mod4',lambda l:l%4)
add('mod8',lambda l:l%8)
add('mod16',lambda l:l%16)
add('rev',lambda l:31-l)
add('x2',lambda l:2*l)
add('x3',lambda l:3*l)
add('x4',lambda l:4*l)
add('x5',lambda l:5*l)
add('x8',lambda l:8*l)
add('x9',lambda l:9*l)
add('x16',lambda l:16*l)
add('x17',lambda l:17*l)
add('halfx4',lambda l:(l//16)*4)
add('halfx8',lambda l:(l//16)*8)
add('halfx5',lambda l:(l//16)*5)
add('mod16p4half',lambda l:l%16+(l//16)*20)
add('mod8p8q',lambda l:l%8+(l//8)*9)
add('mod4p8',lambda l:l%4+(l//4)*8)
add('mod4p16h',lambda l:l%4+(l//16)*16)
add('q8',lambda l:(l//8)*8)
add('q8mod2',lambda l:(l//8)*8+l%2)
add('bit',lambda l:(l&1)*8+(l>>1))
add('bitrev',lambda l:int(f'{l:05b}'[::-1],2))
add('xor1',lambda l:l^1)
add('xor8',lambda l:l^8)
add('xor16',lambda l:l^16)
add('one',lambda l:0,lambda l:l==5)
add('even',lambda l:l,lambda l:l%2==0)
add('first8',lambda l:l,lambda l:l<8)
add('first16',lambda l:l,lambda l:l<16)
add('each4',lambda l:l,lambda l:l%4==0)
add('lane0and31',lambda l:l,lambda l:l in(0,31))
add('lane0and31x8',lambda l:l*8,lambda l:l in(0,31))
add('lanes0_9_18_27',lambda l:l,lambda l:l%9==0)
add('conf2q',lambda l:(l%8)*2)
add('conf2across',lambda l:(l//8)*32+(l%8))
add('pairx8',lambda l:(l//2)*8)
add('quadx8',lambda l:(l//4)*8)
add('mod2x8',lambda l:(l%2)*8)
add('mod4x8',lambda l:(l%4)*8)
add('mod8x8',lambda l:(l%8)*8)
for k in (2,3,4,6,8,12,16,32,64):
    for r in range(3):
        s=[random.randrange(k) for _ in range(32)]
        add(f'rand{k}_{r}',lambda l:s[l])
if __name__=='__main__':
    print(len(P))
    with open('patterns.h','w') as f:
        f.write(f'static const int N={len(P)};\nstatic const int PAT[][32]={{\n')
        for n,i in P: f.write('{'+','.join(map(str,i))+'},\n')
        f.write('};\n')
