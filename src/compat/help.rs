//! Texts of `-help`.

use super::invocation::Dialect;

const FASTCHESS: &str = "\
quintain fastchess: the options of fastchess, played by quintain. Keys are written key=value; spaces inside a value need the shell's quotes.

  -engine KEYS             an engine; at least two. Keys: cmd name args dir tc st nodes depth|plies timemargin=MS
                           restart=on|off proto=uci option.NAME=VALUE
                           tc=[moves/][min:]sec[+inc] or inf; st=SECONDS a move
  -each KEYS               the same keys for every engine
  -quick cmd=A cmd=B book=FILE
                           10+0.1, 25000 rounds, all CPUs but two, draws adjudicated, cutechess output
  -concurrency N           games at once (1); 0 or -N: all CPUs but N       -force-concurrency   more than CPUs
  -rounds N -games N       rounds of openings (2), games of each (2)           -repeat [N]          sets -games (2)
  -sprt elo0=E elo1=E alpha=A beta=B [model=normalized|logistic|bayesian]
  -tournament roundrobin|gauntlet     -seeds N   heroes of a gauntlet (1)
  -variant standard|fischerandom      -noswap  -reverse  -recover  -wait MS
  -openings file=F [format=epd|pgn] [order=sequential|random] [plies=N] [start=N]      -srand SEED
  -draw movenumber=N movecount=N score=CP            -resign movecount=N score=CP [twosided=true]
  -maxmoves N              -tb PATHS -tbpieces N -tbignore50 -tbadjudicate BOTH|WIN_LOSS|DRAW
  -pgnout [file=F] [append=B] [notation=san|lan|uci] [min=B] [nodes=B] [seldepth=B] [nps=B] [hashfull=B] [tbhits=B]
          [pv=B] [timeleft=B] [latency=B] [match_line=REGEX]...                -crc32 pgn=true
  -epdout [file=F] [append=B]         -event TEXT  -site TEXT
  -output format=fastchess|cutechess  -ratinginterval N (10)  -scoreinterval N (1)  -report penta=B
  -config [file=F] [outname=F] [discard=B] [stats=B]           -autosaveinterval N (20)
  -use-affinity [CPUS]     -startup-ms N  -ucinewgame-ms N  -ping-ms N
  -log file=F [level=trace|info|warn|err|fatal] [append=B] [realtime=B] [engine=B]
  -check-mate-pvs  -show-latency  -testEnv  -strict  -version  -help
  --compliance ENGINE [ARGUMENT...]   as `quintain check`

The journal of all games is in CONFIG.run, beside the file of -config outname=; -config file=CONFIG continues from it.
Exit codes: 0 played to the end, whatever the verdict; 1 anything else.
Example: quintain fastchess -engine cmd=new -engine cmd=base -each tc=8+0.08 -rounds 500 -openings file=book.epd order=random";

const CUTECHESS: &str = "\
quintain cutechess: the common options of cutechess-cli, played by quintain.

  -engine KEYS             an engine; at least two. Keys: cmd name arg=ARGUMENT dir tc st nodes depth timemargin=MS
                           restart=auto|on|off proto=uci ponder whitepov tscale=FACTOR option.NAME=VALUE
                           initstr=TEXT, lines of setoption; conf=NAME, an engine of engines.json
  -each KEYS               the same keys for every engine                   -engines      names of engines.json
  -games N -rounds N       games of an encounter (1), encounters (1)        -repeat [N]   games with one opening (2)
  -tournament round-robin|gauntlet|knockout|pyramid     -seeds N            -concurrency N
  -openings file=F [format=epd|pgn] [order=sequential|random] [plies=N] [start=N]      -srand SEED
  -sprt elo0=E elo1=E alpha=A beta=B
  -draw movenumber=N movecount=N score=CP       -resign movecount=N score=CP [twosided=true]      -maxmoves N
  -tb PATHS -tbpieces N -tbignore50             -variant standard|fischerandom
  -pgnout FILE [min] [fi]  -epdout FILE         -event TEXT -site TEXT
  -tournamentfile FILE     settings and state of the tournament, in Quintain's format (cutechess-cli.quintain.json)
  -resume                  continues the tournament of -tournamentfile
  -ratinginterval N (0)    -outcomeinterval N   -noswap  -reverse  -recover  -wait MS  -debug  -version  -help

Exit codes: 0 played to the end, whatever the verdict; 1 anything else.
Example: quintain cutechess -engine cmd=a -engine cmd=b -each tc=40/60 -games 2 -rounds 100 -repeat -pgnout games.pgn";

pub(super) const fn text(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Fastchess => FASTCHESS,
        Dialect::Cutechess => CUTECHESS,
    }
}
